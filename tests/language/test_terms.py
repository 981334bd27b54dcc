"""Words in any script are found by any of their forms, and by their parts where they are written together."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from alveus.language.terms import LANGUAGES, detect, index_terms, question_terms

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=200)  # lone surrogates too


def found(stored: str, asked: str, languages: frozenset[str] | None = None) -> bool:
    """Whether every word of a question has one of its terms among those of a stored text."""
    terms = set(index_terms(stored))
    known = languages or frozenset({detect(stored)})
    return all(not terms.isdisjoint(group.alternatives) for group in question_terms(asked, known))


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("сервер переехал в Казань", "серверы"),
        ("сервер переехал в Казань", "Казани"),
        ("сервер переехал в Казань", "КАЗАНЬ"),
        ("ещё один ёж под ёлкой", "еж под елкой"),
        ("еще один еж под елкой", "Ёж под ёлкой"),
        (unicodedata.normalize("NFD", "чёрный йогурт"), "черного йогурта"),
        ("за\u0301мок на горе", "замок"),
        ("Пётр с Мариной уехали", "ПЕТРА и Марины"),
        ("перевели базу на PostgreSQL и Docker", "postgresql docker"),
        ("They moved the servers to Berlin", "server move"),
        ("Caroline’s adoption interviews", "Caroline's interview"),
        ("the café on the corner", "cafe"),
        ("the cafe on the corner", "café"),
        ("Ein Café in der Straße ist nicht weit von hier", "Strasse"),
        ("Die Häuser sind in der Stadt und wir wohnen nicht weit", "Haus häuser hauser"),
        ("Der Datenbankserver ist nicht mehr in der Stadt", "Datenbankservers"),
        ("los niños están en la casa de los abuelos", "niño casas"),
        ("İstanbul'da bir sunucu", "istanbul"),
        ("ISPARTA ve ısparta çok güzel ama daha", "isparta"),
        ("ο σκύλος του Γιώργου", "ΣΚΎΛΟΣ"),
        ("ο σκυλος", "σκύλος"),
        ("数据库迁移完成", "迁移"),
        ("数据库迁移完成", "数据库"),
        ("設定ファイルを変更した", "設定"),
        ("設定ファイルを変更した", "ファイル"),
        ("ｻｰﾊﾞｰを移した", "サーバー"),
        ("เซิร์ฟเวอร์ย้ายแล้ว", "เซิร์ฟเวอร์"),
        ("서버가 서울로 이사했다", "서버"),
        ("서버가 서울로 이사했다", "서울"),
        ("ＡＢＣ corporation", "abc"),
        ("the ﬁle system", "file"),
        ("मैंने किताबें पढ़ीं", "किताबें"),
        ("كتبت الرسائل إلى المدير", "الرسائل"),
        ("השרת עבר לחיפה", "השרת"),
        ("Ես տեսա գրքերը", "գրքերը"),
    ],
)
def test_a_word_is_found_by_another_form_of_it(stored, asked):
    """Inflection, case, diacritics, composition and width hide no word; a pair of characters finds a run of them."""
    assert found(stored, asked)


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("set user_id first", "user_id"),
        ("set user_id first", "userId"),
        ("set userId first", "user_id"),
        ("set userId first", "userid"),
        ("set user_id first", "user"),
        ("it raised KeyError again", "KeyError"),
        ("it raised KeyError again", "keyerror"),
        ("it raised KeyError again", "key error"),
        ("released v1.2.3 today", "v1.2.3"),
        ("look into src/app/main.py please", "src/app/main.py"),
        ("look into src/app/main.py please", "main.py"),
        ("look into src/app/main.py please", "main"),
        ("write to ann.lee@example.org", "ann.lee@example.org"),
        ("write to ann.lee@example.org", "example.org"),
        ("write to ann.lee@example.org", "lee"),
        ("see https://github.com/foo/bar?x=1.", "github.com"),
        ("commit 9fceb02d0ae598e95dc970b74767f19372d61af8", "9fceb02d0ae598e95dc970b74767f19372d61af8"),
        ("paid 10,000 dollars", "10000"),
        ("paid 10000 dollars", "10,000"),
        ("заплатили 10 000 рублей", "10000"),
        ("заплатили 10000 рублей", "10\u00a0000"),
        ("версия ٢٠٢٣ года", "2023"),
        ("python3 and sha256", "python"),
        ("the follow-ups came", "followup"),
        ("by e-mail", "email"),
        ("write C++ and C#", "C++"),
        ("write C++ and C#", "c#"),
        ("parse the URLs", "URL"),
        ("ключsk_test_ABC…", "sk"),
        ("ключsk_test_ABC…", "ключ"),
        ("новый Docker-контейнер", "контейнеры Docker"),
        ("Mr O'Brien called", "OBrien"),
        ("l'homme est dans la ville et il ne parle pas", "homme"),
        ("std::vector in main.cpp", "vector"),
        ("the #release-notes tag", "release"),
    ],
)
def test_what_is_written_together_is_found_whole_and_by_part(stored, asked):
    """Names in code, paths, addresses and numbers, however they are spelled."""
    assert found(stored, asked)


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("сервер переехал в Казань", "Рязань"),
        ("数据库迁移完成", "移数"),
        ("версия v1.2.3", "v1.2.4"),
        ("the user said so", "userId"),
        ("in 2022 100 people came", "022100"),
    ],
)
def test_what_is_not_there_is_not_found(stored, asked):
    """A shared letter or part is no match of the whole."""
    assert not found(stored, asked)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("", "en"),
        ("ok", "en"),
        ("123 456", "en"),
        ("数据库迁移", "en"),
        ("The server moved to another city", "en"),
        ("Сервер переехал", "ru"),
        ("Поднимем PostgreSQL 17 на новых дисках", "ru"),
        ("Wir haben den Server nicht in die neue Stadt gebracht, weil er zu schwer ist", "de"),
        ("Nous avons déplacé le serveur dans une autre ville et il ne marche pas", "fr"),
        ("El servidor que teníamos en la ciudad no está en la lista", "es"),
        ("Il server non è più nella città, ma si trova con gli altri", "it"),
        ("O servidor não está mais na cidade, mas nós temos uma cópia dele", "pt"),
        ("De server is niet meer in de stad, maar we hebben een kopie van het systeem", "nl"),
        ("Servern är inte i staden, men vi har en kopia av den och det är bra för oss", "sv"),
        ("Serwer nie jest już w mieście, ale mamy jego kopię i to się nie zmieni", "pl"),
        ("A szerver már nem az irodában van, hanem egy másik városban, de ez nem baj", "hu"),
        ("Sunucu artık bu şehirde değil ama daha çok iş var ve bu bizim için iyi", "tr"),
        ("Ο διακομιστής μετακόμισε", "el"),
        ("Сервер је прешао у други град, а њега чува Ђорђе", "sr"),
        ("انتقل الخادم إلى مدينة أخرى", "ar"),
        ("सर्वर दूसरे शहर में चला गया", "hi"),
        ("Սերվերը տեղափոխվել է", "hy"),
        ("השרת עבר לעיר אחרת", "en"),
        ("\ud800 and the", "en"),
    ],
)
def test_the_language_is_told_by_script_and_function_words(text, language):
    """Undecided Latin is English, Cyrillic Russian; a script without a stemmer changes nothing."""
    assert detect(text) == language


def test_a_latin_word_within_russian_is_stemmed_as_english():
    """Each word of a text by its own script."""
    assert index_terms("запустили servers") == ["запуст", "server"]


def test_terms_stand_in_order_and_repeat():
    """The index may count them, and see which stand beside each other."""
    assert index_terms("the cat saw the cat") == ["the", "cat", "saw", "the", "cat"]


def test_a_question_loses_its_function_words():
    """What is left is what the question is about, each word once, in order."""
    words = [group.word for group in question_terms("When didn’t Ann's servers move, and whose servers?", {"en"})]
    assert words == ["ann", "servers", "move"]
    assert [g.word for g in question_terms("Когда и кто переносил серверы?", {"ru"})] == ["переносил", "серверы"]


@pytest.mark.parametrize(
    "question", ["who is it", "what was that?", "кто это был", "did you", "didn't they", "didnt they"]
)
def test_a_question_of_function_words_keeps_them(question):
    """Better a poor search than none."""
    assert question_terms(question, {"en", "ru"})


def test_a_word_has_its_stem_in_every_stored_language():
    """The same spelling is cut differently by each language."""
    (group,) = question_terms("Daten", {"en", "de", "ru"})
    assert set(group.alternatives) == {"daten", "dat"}


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Where does Caroline work?", ["caroline"]),
        ("Caroline works where?", []),
        ("what did Will and May say", ["will", "may"]),
        ("I think I'm late", []),
        ("use PostgreSQL on AWS", ["postgresql", "aws"]),
        ("PostgreSQL or sqlite", ["postgresql"]),
        ("Что сказала Марина Тимуру?", ["марина", "тимуру"]),
        ("КАЗАНЬ", ["казань"]),
        ("ГДЕ СЕРВЕР", []),
        ("It works. Then Ann left", ["ann"]),
    ],
)
def test_names_are_told_by_their_capitals(question, names):
    """A sentence's first capital says nothing, nor do capitals where all are."""
    assert [group.word for group in question_terms(question, {"en", "ru"}) if group.is_name] == names


def test_one_character_of_a_run_on_script_is_a_term_of_its_own():
    """So that a caller can look for terms that begin with it: each character of a run begins one."""
    (group,) = question_terms("迁", {"en"})
    assert group.alternatives == ("迁",)
    for character in "数据库迁移":
        assert any(term.startswith(character) for term in index_terms("数据库迁移"))


@pytest.mark.parametrize(
    "text", ["\ud800", "a\x00b", "🎉👩‍👩‍👧", "\u0301", "İ", "ß", "ﬃ", "_", "'", "a'", "__a__", "١", "²", "½", "Ⅷ"]
)
def test_odd_text_is_text(text):
    """Lone surrogates, NUL, emoji, lonely marks, letters that fold to two."""
    assert all(index_terms(text)) or not index_terms(text)
    question_terms(text, {"en", "ru", "tr"})


@pytest.mark.parametrize("piece", ["слово, ", "a", "数据", "a_", "a.b/", "1 000 ", "ёA"])
def test_a_megabyte_takes_seconds(piece):
    """No text, however it is made, takes more than time in proportion."""
    text = piece * (1_000_000 // len(piece))
    start = time.process_time()
    terms = index_terms(text)
    assert time.process_time() - start < 20
    assert all(len(term) <= 128 for term in terms)


@given(ANY_TEXT)
def test_any_text_has_terms_without_an_error(text):
    """The same each time, none of them empty, none with a space in it."""
    terms = index_terms(text)
    assert terms == index_terms(text)
    assert all(term and not any(map(str.isspace, term)) for term in terms)
    assert detect(text) in LANGUAGES


@given(ANY_TEXT, st.sets(st.sampled_from(LANGUAGES)))
def test_any_question_has_groups_without_an_error(text, languages):
    """Each has a term to look for, and none comes twice."""
    groups = question_terms(text, languages)
    assert all(group.alternatives and all(group.alternatives) for group in groups)
    assert len({group.alternatives for group in groups}) == len(groups)


@given(st.one_of(ANY_TEXT, st.text("aBcё_-.1'’İé数가ключ", max_size=12)))
def test_a_text_is_found_by_itself(text):
    """Every word of a question has a term in the index of that text."""
    terms = set(index_terms(text))
    for group in question_terms(text, {detect(text)}):
        assert not terms.isdisjoint(group.alternatives)


@given(st.sampled_from(LANGUAGES), st.text("абвгдеёabcdeöüéşςσاب", min_size=1, max_size=12))
def test_a_word_is_found_in_a_text_of_any_language(language, word):
    """As long as that language is among those of the stored texts."""
    terms = set(index_terms(word, language))
    for group in question_terms(word, {language}):
        assert not terms.isdisjoint(group.alternatives)
