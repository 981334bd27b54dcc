r"""Keys, tokens and passwords in a text, found before it is signed: a signed journal cannot be edited afterwards.

Two tables. A token with a beginning of its own is found by that beginning; what has no shape of its own is a secret
only where it stands: after a name that says so, in an `Authorization` header, in a URL, inside a PEM block. So a UUID,
a git hash and a digest are left alone, unless somebody wrote `token=` before them.

Three rules hold for every row. A border is "no ASCII token character", never `\b`: between `ключ` or `密钥` and
`sk_live_…` there is no `\b`, because all of them are word characters. After a JSON escape there is a border too,
because transcripts hold text that was escaped once more (`\nghp_…`). And nothing backtracks: quantifiers are bounded
or possessive, so a text of any shape costs time in proportion to its length.

`detect-secrets` 1.5.0 was measured for this place and left: it gives no position to mask at, its entropy rules take a
git hash and a UUID for secrets, it names no Anthropic, Google or Hugging Face key, and it ran at 0.2 MB/s.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Final


@dataclass(frozen=True, slots=True, order=True)
class Match:
    """One secret: it is `text[start:end]`."""

    start: int
    end: int
    kind: str


def find(text: str) -> list[Match]:
    """The secrets in the text, in order and not overlapping."""
    found: list[Match] = []
    for match in sorted(_all(text), key=lambda one: one.start):
        if not found or match.start >= found[-1].end:
            found.append(match)
        elif match.end > found[-1].end:
            # Both rows are right about their part, so nothing of either may stay readable.
            found[-1] = Match(found[-1].start, match.end, found[-1].kind)
    return found


def mask(text: str) -> tuple[str, Counter[str]]:
    """The text with `[secret:kind]` in the place of each secret, and how many of each kind there were."""
    found = find(text)
    if not found:
        return text, Counter()
    parts, end = [], 0
    for match in found:
        parts += [text[end : match.start], f"[secret:{match.kind}]"]
        end = match.end
    return "".join(parts) + text[end:], Counter(match.kind for match in found)


def mask_json(value: Any) -> tuple[Any, Counter[str]]:
    """The same for every string in a JSON value; a member's name counts as what stands before its value."""
    # One look at all of it: nearly every value ends here, and a look at each of its strings costs ten times as much.
    if not _rows_of(json.dumps(value, ensure_ascii=False, default=str, skipkeys=True)):
        return value, Counter()
    return _mask_inside(value, "")


def _mask_inside(value: Any, name: str) -> tuple[Any, Counter[str]]:
    if isinstance(value, str):
        return _mask_member(name, value)
    counts: Counter[str] = Counter()
    if isinstance(value, Mapping):
        members = {}
        for key, inner in value.items():
            members[key], more = _mask_inside(inner, key)
            counts += more
        return members, counts
    if isinstance(value, list):
        items = []
        for inner in value:
            masked, more = _mask_inside(inner, name)
            items.append(masked)
            counts += more
        return items, counts
    return value, counts


def _mask_member(name: str, value: str) -> tuple[str, Counter[str]]:
    before = f'{name}="'
    if name and any(match.start >= len(before) for match in find(before + value)):
        masked, counts = mask(before + value)
        return masked[len(before) :], counts
    return mask(value)


# ── tokens that are known by how they begin ──────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class _Token:
    """`body` follows the prefix, `lead` goes before it; no letter, digit or one of `joins` goes before the whole."""

    kind: str
    prefixes: tuple[str, ...]
    body: re.Pattern[str]
    lead: re.Pattern[str] | None = None
    joins: str = "_"
    accept: Callable[[str], object] = bool

    def at(self, text: str, position: int, prefix: str) -> Match | None:
        """The token whose prefix stands at the position."""
        lead = self.lead.search(text, max(0, position - 10), position) if self.lead else None
        start = lead.start() if lead else position
        if (self.lead and not lead) or not _border(text, start, self.joins):
            return None
        body = self.body.match(text, position + len(prefix))
        return Match(start, body.end(), self.kind) if body and self.accept(body[0]) else None


def _token(kind: str, prefixes: str, body: str, **more: Any) -> _Token:
    return _Token(kind=kind, prefixes=tuple(prefixes.split()), body=re.compile(body), **more)


# A word of a style sheet may begin with sk-; a key has a digit and a long run without hyphens.
_DENSE = re.compile(r"(?=[^\d]*+\d)(?:[A-Za-z0-9]{0,15}+[_-])*+[A-Za-z0-9]{16}").match

# A row that can fail after a run of any length joins every character of that run, so that the run is walked only once.
_TOKENS: Final = (
    _token("anthropic_key", "sk-ant-", r"[A-Za-z0-9_-]{16,}+"),
    _token("openai_key", "sk-", r"[A-Za-z0-9_-]{20,}+", joins="_-", accept=_DENSE),
    _token("github_token", "ghp_ gho_ ghu_ ghs_ ghr_ github_pat_", r"[A-Za-z0-9_]{20,}+"),
    _token("gitlab_token", "glpat- gldt- glrt- glptt-", r"[A-Za-z0-9_.-]{16,}+"),
    _token("aws_key_id", "AKIA ASIA ABIA ACCA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _token("google_key", "AIza", r"[A-Za-z0-9_-]{30,}+"),
    _token("google_token", "ya29. GOCSPX-", r"[A-Za-z0-9_-]{20,}+"),
    _token("slack_token", "xoxa- xoxb- xoxe- xoxp- xoxr- xoxs- xapp-", r"[A-Za-z0-9.-]{10,}+"),
    _token("slack_webhook", "hooks.slack.com/services/", r"[A-Za-z0-9/_-]{20,}+"),
    _token("stripe_key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", r"[A-Za-z0-9]{10,}+"),
    _token("npm_token", "npm_", r"[A-Za-z0-9]{30,}+"),
    _token("pypi_token", "pypi-AgE", r"[A-Za-z0-9_-]{30,}+"),
    _token("huggingface_token", "hf_", r"[A-Za-z0-9]{30,}+"),
    _token("groq_key", "gsk_", r"[A-Za-z0-9]{40,}+"),
    _token("xai_key", "xai-", r"[A-Za-z0-9]{40,}+"),
    _token("yandex_key", "AQVN y0_", r"[A-Za-z0-9_-]{30,}+"),
    _token("digitalocean_token", "dop_v1_ doo_v1_ dor_v1_", r"[a-f0-9]{40,}+"),
    _token("telegram_token", ":AA", r"[A-Za-z0-9_-]{30,}+", lead=re.compile(r"[0-9]{8,10}\Z")),
    _token("sendgrid_key", "SG.", r"[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+", joins="_-"),
    _token("jwt", "eyJ", r"[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]*+", joins="_-"),
)

_ESCAPED = re.compile(r"\\(?:[nrtbf]|u[0-9A-Fa-f]{4})\Z")


def _border(text: str, position: int, joins: str) -> bool:
    before = text[position - 1] if position else " "
    if before not in joins and not (before.isascii() and before.isalnum()):
        return True
    return _ESCAPED.search(text, max(0, position - 6), position) is not None


# ── secrets that are known by where they stand ───────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """`regex` is tried wherever one of `stems` stands in the lower-cased text; its group `s` is the secret."""

    kind: str
    stems: tuple[str, ...]
    regex: re.Pattern[str]
    accept: Callable[[re.Match[str]], object] = bool

    def at(self, text: str, position: int) -> Match | None:
        """The secret of the place that begins at the position."""
        match = self.regex.match(text, position)
        if not match or not self.accept(match):
            return None
        start, end = match.span("s")
        # A value is looked at to a bound; a longer one must not keep its end.
        rest = _VALUE_END.match(text, end) if end - start >= _VALUE_BOUND else None
        return Match(start, rest.end() if rest else end, self.kind)


def _place(kind: str, stems: str, regex: str, **more: Any) -> _Place:
    return _Place(kind=kind, stems=tuple(stems.split()), regex=re.compile(regex, re.IGNORECASE), **more)


_VALUE_BOUND: Final = 256
_VALUE_CHARS: Final = r"[^\s\"'`,;<>(){}\[\]|\\]"
_VALUE_END = re.compile(rf"{_VALUE_CHARS}*+")
_VALUE: Final = rf"(?P<s>{_VALUE_CHARS}{{6,{_VALUE_BOUND}}}+)(?![(\[])"
_QUOTE: Final = r"\\{0,3}[\"'`]"
_PASSWORD: Final = r"(?:pass(?:word|wd|phrase|code)|pwd|парол(?:ь|я|ю|ем|и)|密码|密碼|口令)"
_SECRET: Final = (
    r"(?:secret(?:[_-]?access)?(?:[_-]?key)?|token|(?:api|access|account|auth|private|signing|encryption)[_-]?key"
    r"|credentials?|ключ(?:а|у|ом|и)?|токен(?:а|у|ом|ы)?|секрет(?:а|у|ом|ы)?|密钥|密鑰|令牌)"
)
# Up to three Russian words may stand between: «ключ доступа: …», «пароль от базы — …».
_BETWEEN: Final = rf"(?:[ \t]{{1,3}}[а-яё]{{1,15}}){{0,3}}(?:{_QUOTE})?"
_ASSIGN: Final = r"[ \t]{0,4}(?:=>|:=|={1,3}|[:：])[ \t]{0,4}"
_OPTION: Final = r"(?<!-)--[a-z-]{0,20}?"


def _named(name: str, verbs: str) -> str:
    return rf"{name}{_BETWEEN}(?:{_ASSIGN}|[ \t]{{1,3}}(?:{verbs})[ \t]{{1,3}})(?P<q>{_QUOTE})?{_VALUE}"


# Values that are not themselves secrets.
_CODE = re.compile(
    r"[$%*.~/]|https?:"  # variables, masks, paths, addresses
    r"|[A-Za-z_]\w*(?:(?:\.|->|::)[A-Za-z_]\w*)+\W*\Z"  # dotted names
    r"|[A-Za-z]+\d*(?:[-_][a-z]+)+(?:_\d)?\W*\Z|[A-Z]+(?:_[A-Z]+)+\W*\Z"  # joined words, names of constants
    r"|(.)\1*\Z"  # one character over and over
)
_PLACEHOLDERS: Final = (
    "string password passwd secret required optional example changeme value redacted hidden invalid missing default"
    " undefined function boolean integer number object unknown username"
)


def _is_password(match: re.Match[str]) -> bool:
    value = match["s"]
    if _CODE.match(value) or value.lower().strip(".!?:") in _PLACEHOLDERS.split():
        return False
    return bool(match["q"]) or any(char.isdigit() for char in value)


def _is_secret(match: re.Match[str]) -> bool:
    value = match["s"]
    if len(value) == 40 and re.fullmatch(r"[A-Za-z0-9/+]{40}", value):
        return True
    mixed = any(char.isdigit() for char in value) and any(char.isalpha() for char in value)
    return mixed and len(value) >= 8 and not _CODE.match(value)


_PLACES: Final = (
    _place(
        "private_key",
        "-----begin",
        r"(?P<s>-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"
        # To the end of the block, or, where it was cut, over the lines of base64 that are there.
        r"(?:(?:[^-]|-(?!----)){0,20000}+-----END [A-Z0-9 ]{0,60}-----|(?:(?:\s|\\[nr])*+[A-Z0-9+/=]{16,}+)++))",
    ),
    _place(
        "authorization",
        "bearer basic authorization",
        r"(?:bearer|basic|authorization:\s{0,3}token)\s{1,4}(?P<s>[A-Za-z0-9._~+/-]{16,}+={0,2})",
        accept=lambda match: re.search(r"\d|=\Z", match["s"]),
    ),
    _place(
        "url_password",
        "://",
        r"://[^\s:/@\"'<>?#\[]{0,200}+:(?P<s>[^\s/@\"'<>]{1,300}+)@",
        accept=lambda match: match["s"][0] not in "$<{%*[",
    ),
    _place(
        "password",
        "passw passphrase passcode pwd парол 密码 密碼 口令",
        _named(_PASSWORD, "is|это|[-—–]"),
        accept=_is_password,
    ),
    _place("password", "--", rf"{_OPTION}pass(?:word|wd)?[ ](?P<q>{_QUOTE})?{_VALUE}", accept=_is_password),
    _place(
        "assigned",
        "secret token api access account auth private signing encryption credential ключ токен секрет 密钥 密鑰 令牌",
        _named(_SECRET, "[-—–]"),
        accept=_is_secret,
    ),
    _place("assigned", "--", rf"{_OPTION}(?:token|secret|api-key)[ ](?P<q>{_QUOTE})?{_VALUE}", accept=_is_secret),
)


# ── the search ───────────────────────────────────────────────────────────────────────────────────────────────────────

_BY_PREFIX: Final = tuple((prefix, row) for row in _TOKENS for prefix in row.prefixes)
_BY_STEM: Final = tuple((stem, row) for row in _PLACES for stem in row.stems)


def _all(text: str) -> Iterator[Match]:
    """The matches of every row, the exact rows first: they name what an assignment only shows."""
    low = _lower(text)
    for word, row in _rows_of(text, low):
        if isinstance(row, _Token):
            yield from _tried(text, word, partial(row.at, text, prefix=word))
        else:
            yield from _tried(low, word, partial(row.at, text))


def _rows_of(text: str, low: str = "") -> list[tuple[str, _Token | _Place]]:
    """The rows whose word stands in the text, which is all that nearly every text costs."""
    low = low or _lower(text)
    prefixes: list[tuple[str, _Token | _Place]] = [(prefix, row) for prefix, row in _BY_PREFIX if prefix in text]
    return prefixes + [(stem, row) for stem, row in _BY_STEM if stem in low]


def _tried(text: str, word: str, at: Callable[[int], Match | None]) -> Iterator[Match]:
    """What is found at each place of the word; after a find the search goes on behind it."""
    position = text.find(word)
    while position >= 0:
        match = at(position)
        if match:
            yield match
        position = text.find(word, max(match.end if match else 0, position + 1))


def _lower(text: str) -> str:
    """Lower case with every character in its place: `İ` alone would become two."""
    low = text.lower()
    return low if len(low) == len(text) else "".join(c.lower() if len(c.lower()) == 1 else c for c in text)
