"""What a question says about time is read, and what only looks like time is not."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from alveus.language import dates, dates_en, dates_ru
from alveus.language.dates import spans

WEDNESDAY = datetime(2023, 8, 16, 12, tzinfo=UTC)


def read(text, asked_at=WEDNESDAY):
    """The days of each span, one date where it is one day."""
    return [str(s.start) if s.start == s.end else f"{s.start}/{s.end}" for s in spans(text, asked_at)]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("What happened on 7 May 2023?", "2023-05-07"),
        ("May 7, 2023", "2023-05-07"),
        ("May 7th", "2023-05-07"),
        ("the 7th of May", "2023-05-07"),
        ("on 7 may", "2023-05-07"),
        ("dec 24", "2022-12-24"),
        ("on 16 August", "2023-08-16"),
        ("on 17 August", "2022-08-17"),
        ("on 29 February", "2020-02-29"),
        ("2023-05-07", "2023-05-07"),
        ("2023/5/7", "2023-05-07"),
        ("07.05.2023", "2023-05-07"),
        ("07.05.23", "2023-05-07"),
        ("12/31/2022", "2022-12-31"),
        ("31/12/2022", "2022-12-31"),
        ("in 2023-05", "2023-05-01/2023-05-31"),
        ("in May 2023", "2023-05-01/2023-05-31"),
        ("31 February 2023", "2023-02-01/2023-02-28"),
        ("in May", "2023-05-01/2023-05-31"),
        ("in may", "2023-05-01/2023-05-31"),
        ("in August", "2023-08-01/2023-08-31"),
        ("in September", "2022-09-01/2022-09-30"),
        ("last August", "2022-08-01/2022-08-31"),
        ("next May", "2024-05-01/2024-05-31"),
        ("in 2022", "2022-01-01/2022-12-31"),
        ("between 2019 and 2021", "2019-01-01/2021-12-31"),
        ("3-5 May 2023", "2023-05-03/2023-05-05"),
        ("from 3 to 5 March", "2023-03-03/2023-03-05"),
        ("May 7-9", "2023-05-07/2023-05-09"),
        ("between August 11 and August 15 2022", "2022-08-11/2022-08-15"),
        ("from 30 April to 2 May", "2023-04-30/2023-05-02"),
        ("December 1,2022", "2022-12-01"),
        ("last weekend before April 10, 2023", "2023-04-08/2023-04-09"),
        ("early June", "2023-06-01/2023-06-10"),
        ("in late 2022", "2022-09-01/2022-12-31"),
        ("in mid-2022", "2022-05-02/2022-08-31"),
        ("the second half of May", "2023-05-16/2023-05-31"),
        ("the first week of June 2023", "2023-06-01/2023-06-07"),
        ("the last weekend of June", "2023-06-24/2023-06-25"),
        ("the weekend before 20 May", "2023-05-13/2023-05-14"),
        ("the weekend after 20 May", "2023-05-27/2023-05-28"),
        ("the week of 7 May", "2023-05-01/2023-05-07"),
        ("the week before 9 June 2023", "2023-06-02/2023-06-08"),
        ("two days before 10 July", "2023-07-08"),
        ("the Friday before 22 October 2022", "2022-10-21"),
        ("the day after 10 July", "2023-07-11"),
        ("summer of 2022", "2022-06-01/2022-08-31"),
        ("last summer", "2022-06-01/2022-08-31"),
        ("in the summer", "2023-06-01/2023-08-31"),
        ("last winter", "2022-12-01/2023-02-28"),
        ("Q2 2023", "2023-04-01/2023-06-30"),
        ("yesterday", "2023-08-15"),
        ("the day before yesterday", "2023-08-14"),
        ("today", "2023-08-16"),
        ("last night", "2023-08-15/2023-08-16"),
        ("last Tuesday", "2023-08-15"),
        ("last Wednesday", "2023-08-09"),
        ("on Wednesday", "2023-08-16"),
        ("on Friday", "2023-08-11"),
        ("next Friday", "2023-08-18"),
        ("Tuesday of last week", "2023-08-08"),
        ("last week", "2023-08-07/2023-08-13"),
        ("this week", "2023-08-14/2023-08-20"),
        ("the week before last", "2023-07-31/2023-08-06"),
        ("last weekend", "2023-08-12/2023-08-13"),
        ("over the weekend", "2023-08-12/2023-08-13"),
        ("last month", "2023-07-01/2023-07-31"),
        ("last year", "2022-01-01/2022-12-31"),
        ("at the end of last year", "2022-09-01/2022-12-31"),
        ("earlier this year", "2023-01-01/2023-05-01"),
        ("three days ago", "2023-08-13"),
        ("two weeks ago", "2023-07-30/2023-08-05"),
        ("a month ago", "2023-07-01/2023-07-31"),
        ("two years ago", "2021-01-01/2021-12-31"),
        ("a few days ago", "2023-08-10/2023-08-14"),
        ("over the past three months", "2023-05-16/2023-08-16"),
        ("an hour ago", "2023-08-15/2023-08-16"),
    ],
)
def test_english(text, days):
    """Dates, months, years and seasons of the calendar; distances; what stands before them."""
    assert read(text) == [days]


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("7 мая 2023", "2023-05-07"),
        ("7-го мая 2023 г.", "2023-05-07"),
        ("седьмого мая", "2023-05-07"),
        ("двадцать второго июня 2022", "2022-06-22"),
        ("двадцатого июня", "2023-06-20"),
        ("третьего июня", "2023-06-03"),
        ("тридцать первого июля", "2023-07-31"),
        ("07.05.2023", "2023-05-07"),
        ("в мае 2023 года", "2023-05-01/2023-05-31"),
        ("В МАЕ", "2023-05-01/2023-05-31"),
        ("В МАРТЕ", "2023-03-01/2023-03-31"),
        ("в сентябре", "2022-09-01/2022-09-30"),
        ("с марта", "2023-03-01/2023-03-31"),
        ("май 2022", "2022-05-01/2022-05-31"),
        ("за прошлый июнь", "2023-06-01/2023-06-30"),
        ("с 3 по 5 марта", "2023-03-03/2023-03-05"),
        ("3–5 марта 2022", "2022-03-03/2022-03-05"),
        ("с 28 марта по 2 апреля 2022 года", "2022-03-28/2022-04-02"),
        ("с мая по июль", "2023-05-01/2023-07-31"),
        ("в начале июня", "2023-06-01/2023-06-10"),
        ("в конце прошлого года", "2022-09-01/2022-12-31"),
        ("в первой половине мая", "2023-05-01/2023-05-15"),
        ("в первую неделю мая", "2023-05-01/2023-05-07"),
        ("за неделю до 20 мая", "2023-05-13/2023-05-19"),
        ("за два дня до 5 марта", "2023-03-03"),
        ("накануне 5 марта", "2023-03-04"),
        ("через два дня после 5 марта", "2023-03-07"),
        ("в выходные перед 20 мая", "2023-05-13/2023-05-14"),
        ("в пятницу перед 22 октября 2022", "2022-10-21"),
        ("в 2022 году", "2022-01-01/2022-12-31"),
        ("что было в 2022?", "2022-01-01/2022-12-31"),
        ("с 2019 по 2021 год", "2019-01-01/2021-12-31"),
        ("летом 2022 года", "2022-06-01/2022-08-31"),
        ("прошлым летом", "2022-06-01/2022-08-31"),
        ("летом", "2023-06-01/2023-08-31"),
        ("прошлой зимой", "2022-12-01/2023-02-28"),
        ("вчера", "2023-08-15"),
        ("позавчера", "2023-08-14"),
        ("в прошлый вторник", "2023-08-15"),
        ("во вторник", "2023-08-15"),
        ("в среду", "2023-08-16"),
        ("в эту пятницу", "2023-08-18"),
        ("во вторник на прошлой неделе", "2023-08-08"),
        ("на прошлой неделе", "2023-08-07/2023-08-13"),
        ("на этой неделе", "2023-08-14/2023-08-20"),
        ("на позапрошлой неделе", "2023-07-31/2023-08-06"),
        ("на выходных", "2023-08-12/2023-08-13"),
        ("в прошлые выходные", "2023-08-12/2023-08-13"),
        ("в прошлом месяце", "2023-07-01/2023-07-31"),
        ("в прошлом году", "2022-01-01/2022-12-31"),
        ("в начале года", "2023-01-01/2023-05-01"),
        ("в конце года", "2022-09-01/2022-12-31"),
        ("три дня назад", "2023-08-13"),
        ("две недели назад", "2023-07-30/2023-08-05"),
        ("неделю тому назад", "2023-08-06/2023-08-12"),
        ("месяц назад", "2023-07-01/2023-07-31"),
        ("год назад", "2022-01-01/2022-12-31"),
        ("полгода назад", "2023-01-02/2023-04-02"),
        ("несколько дней назад", "2023-08-10/2023-08-14"),
        ("за последние три месяца", "2023-05-16/2023-08-16"),
        ("за последнюю неделю", "2023-08-09/2023-08-16"),
    ],
)
def test_russian(text, days):
    """The same in Russian, with its cases."""
    assert read(text) == [days]


@pytest.mark.parametrize(
    "text",
    [
        "May I come in?",
        "it may rain",
        "You may 3 times try",
        "the 3 may differ",
        "march on",
        "They march on Rome",
        "The march was long",
        "He will march 10 miles",
        "the last march of the penguins",
        "the second attempt",
        "a second opinion",
        "he sat down",
        "who last sat here?",
        "the sun rose on us",
        "wed in a church",
        "did June say something?",
        "What is April's job?",
        "a photo by April",
        "dec the halls",
        "he got hurt in the fall",
        "spring into action",
        "in Spring Boot",
        "version 1.2.3",
        "version 1.10.2023",
        "версию 1.10.2023",
        "v2023.05.07",
        "192.168.10.12",
        "port 2022",
        "in 2000 words",
        "in 1500 lines",
        "10:30 in the morning",
        "1/2 cup",
        "build 20230507",
        "order 2023-0507-11",
        "every Friday",
        "on Tuesdays",
        "a week of work",
        "2023-13-45",
        "phone 8-800-2000-600",
        "in the year 99999",
        "sep by commas",
        "второй раз",
        "второй вариант",
        "Март купил машину",
        "что сказал Март?",
        "Марта приехала",
        "уверен в Марте",
        "маяк горит",
        "май-тай",
        "среда разработки",
        "в среду обитания",
        "сколько лет сыну?",
        "ему 12 лет",
        "год рождения",
        "неделя выдалась тяжёлая",
        "сделать за день",
        "2000 рублей",
        "в 2000 раз быстрее",
        "осенний лист",
        "августейший",
        "десять дней отпуска",
        "назад дороги нет",
        "завтрак готов",
        "11 мартышек",
        "32 мая",
    ],
)
def test_what_only_looks_like_time_is_none(text):
    """Verbs, names, versions, ports, ages and days that no calendar has."""
    assert read(text) == []


def test_a_span_says_which_words_it_was_read_from():
    """So that they need not be searched for as words."""
    (span,) = spans("Что мы делали в начале июня с Марией?", WEDNESDAY)
    assert (span.words, span.exact) == ("в начале июня", True)
    (span,) = spans("What did I say last Tuesday?", WEDNESDAY)
    assert (span.words, span.exact) == ("last Tuesday", False)


def test_several_spans_stand_in_the_order_of_the_question():
    """Each of what does not overlap."""
    assert read("Yesterday or in May 2022, вчера?") == ["2023-08-15", "2022-05-01/2022-05-31", "2023-08-15"]


def test_a_distance_is_counted_from_the_day_that_is_named_beside_it():
    """Last week, as it was mentioned on a day; unless it is one or the other."""
    assert read("what happened last week, as mentioned on November 6, 2022?") == ["2022-10-24/2022-10-30", "2022-11-06"]
    assert read("last week or on November 6, 2022?") == ["2023-08-07/2023-08-13", "2022-11-06"]


def test_the_day_is_the_askers():
    """Just after midnight in Vladivostok yesterday is not what it is in London."""
    here = timezone(timedelta(hours=10))
    assert read("yesterday", datetime(2023, 8, 17, 1, tzinfo=here)) == ["2023-08-16"]


@given(st.text(st.characters(exclude_categories=()), max_size=120), st.datetimes())
def test_any_question_is_read_without_an_error(text, asked_at):
    """Whatever it says, on whatever day."""
    for span in spans(text, asked_at):
        assert span.start <= span.end


SAID = """
    last first next this the a few two 99 3 7 31 29 1999 2023 2024 may march february summer winter week weekend day
    month year years ago before after of in early late end half ordinal yesterday sunday
    прошлом прошлый начале конце мая
    марта феврале назад недели год лет два за до после перед выходные вторник зимой - , : 2023-02-29 30.02.2023
"""


@given(st.lists(st.sampled_from(SAID.split()), max_size=12).map(" ".join), st.dates(date(1, 1, 1), date(9999, 12, 31)))
def test_any_words_about_time_are_read_without_an_error(text, day):
    """At either end of the calendar too."""
    for span in spans(text, datetime(day.year, day.month, day.day)):  # noqa: DTZ001 - an asker without a zone
        assert span.start <= span.end


RULES = [
    (lexicon, pattern, name) for lexicon in (dates_en.LEXICON, dates_ru.LEXICON) for pattern, name in lexicon.rules
]


@pytest.mark.parametrize(
    ("lexicon", "pattern", "reading"), RULES, ids=[f"{name} {n}" for n, (*_, name) in enumerate(RULES)]
)
@settings(max_examples=25, suppress_health_check=list(HealthCheck))
@given(data=st.data())
def test_whatever_a_rule_matches_gets_as_far_as_the_rule(lexicon, pattern, reading, data):
    """The test before a rule may let too much in, and never too little."""
    text = data.draw(st.from_regex(re.compile(pattern, re.IGNORECASE)))
    if reading in dates._OF_NUMBERS:
        assert dates._MAY_BE_NUMBER(text)
    else:
        assert dates._says_when(lexicon, text)


def test_a_question_without_a_time_compiles_nothing():
    """A hook asks one question in a process: sixty patterns would be a tenth of it."""
    dates._compiled.cache_clear()
    assert read("Which port does the build server listen on, 8081?") == []
    assert dates._compiled.cache_info().currsize == 0
