"""How English says when."""

from __future__ import annotations

from typing import Final

from alveus.language.lexicon import Lexicon

_FULL: Final = "january|february|march|april|may|june|july|august|september|october|november|december"
_MONTH: Final = rf"(?P<m>{_FULL}|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b\.?)"
_D: Final = r"(?<![\w.:/$€£-])(?P<d>\d{1,2})(?P<th>st|nd|rd|th)?"
_D2: Final = r"(?P<d2>\d{1,2})(?:st|nd|rd|th)?"
_YEAR: Final = r"(?:19|20)\d\d(?!\w|[-./:]\d)"
_Y: Final = rf"(?P<y>{_YEAR})"
_OF_YEAR: Final = rf"(?:,? ?(?:of |in )?{_Y})?"
_END: Final = r"(?!\w|[:.]\d|%)"
_DASH: Final = r" ?(?:-|–|—|to|and|through|thru|till|until) ?(?:the )?"
_WEEKDAY: Final = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_N: Final = (
    r"\d{1,3}|a couple of|a couple|couple of|a few|few|several|half an?|"
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
)
_PART: Final = "(?P<part>early|earli(?=er)|mid|late|middle|beginning|start|end)"
_UNIT: Final = "(?P<unit>day|week|weekend|month|quarter|year)"
_UNIT_OR_DAY: Final = rf"(?:(?P<unit>day|night|weekend|week|month|year)s?|(?P<w>{_WEEKDAY}))"
_SIDE: Final = "(?P<side>before|after|following|preceding|prior to|of)"
_NO_OTHER: Final = "(?<!every )(?<!each )(?<!black )(?<!good )(?<!ruby )"
_NO_VERSION: Final = r"(?<!version )(?<!верси\w )(?<![\w/.-])"
_FIXED: Final = (
    "(?:the )?day before yesterday|yesterday|last night|today|tonight|the other day|this (?:morning|afternoon|evening)|"
    "(?:the )?day after tomorrow|tomorrow"
)
_WHICH: Final = "last|this past|this|next|past|previous"
_COUNTED: Final = (
    "(?:words|people|persons|cases|times|lines|files|rows|records|steps|miles|kilomet|km|dollars|euros|pieces|years|days|"
    "hours|minutes|seconds|items|users|tokens|bytes|characters|tests|copies|points|others|meters|metres|feet|"
    r"requests|entries|pages|books|employees|more|percent|of\b)"
)

LEXICON: Final = Lexicon(
    months={name[:3]: number for number, name in enumerate(_FULL.split("|"), 1)},
    weekdays={name[:3]: number for number, name in enumerate(_WEEKDAY.split("|"))},
    seasons={"spring": "spring", "summer": "summer", "autumn": "autumn", "fall": "autumn", "winter": "winter"},
    units={
        "day": "day",
        "night": "day",
        "week": "week",
        "weekend": "weekend",
        "month": "month",
        "quarter": "quarter",
        "year": "year",
        "hour": "hour",
        "min": "minute",
        "sec": "minute",
    },
    numbers={
        "half": 0.5,
        "a": 1,
        "an": 1,
        "a couple": 2,
        "couple": 2,
        "a few": -1,
        "few": -1,
        "several": -1,
        "one": 1,
        "two": 2,
        "three": 3,
        "four": 4,
        "five": 5,
        "six": 6,
        "seven": 7,
        "eight": 8,
        "nine": 9,
        "ten": 10,
        "eleven": 11,
        "twelve": 12,
    },
    which={"last": -1, "past": -1, "previous": -1, "this past": -1, "this": 0, "next": 1},
    fixed={
        "the day before yesterday": (-2, -2),
        "day before yesterday": (-2, -2),
        "yesterday": (-1, -1),
        "last night": (-1, 0),
        "today": (0, 0),
        "tonight": (0, 0),
        "this morning": (0, 0),
        "this afternoon": (0, 0),
        "this evening": (0, 0),
        "tomorrow": (1, 1),
        "the day after tomorrow": (2, 2),
        "day after tomorrow": (2, 2),
        "the other day": (-7, -1),
    },
    parts={
        "earl": 0,
        "beginning": 0,
        "start": 0,
        "mid": 1,
        "middle": 1,
        "late": 2,
        "end": 2,
    },
    ordinals={"first": 0, "second": 1, "third": 2, "fourth": 3, "last": -1, "final": -1},
    sides={"before": -1, "prior to": -1, "preceding": -1, "after": 1, "following": 1, "of": 0},
    introduces=(
        r"\b(?:in|on|during|over|since|year|until|till|before|after|throughout|early|mid|late|"
        r"(?:beginning|start|middle|end|half|week|weekend) of)(?: the)?(?: early| late| mid)?[ -]"
    ),
    opens="from|between",
    joins="to|and|through|thru|till|until|-|–|—",
    doubtful="may|march|mar",
    names="",
    rules=(
        (r"(?<![\w/.-])(?P<y>(?:19|20)\d\d)-(?P<m>\d\d)-(?P<d>\d\d)(?![\w-]*\w-|\d)", "iso"),
        (r"(?<![\w/.-])(?P<y>(?:19|20)\d\d)/(?P<m>\d{1,2})/(?P<d>\d{1,2})(?![\w/])", "iso"),
        (r"(?<![\w/.-])(?P<y>(?:19|20)\d\d)-(?P<m>0[1-9]|1[0-2])(?![\w-])", "iso month"),
        (rf"{_NO_VERSION}(?P<d>\d{{1,2}})\.(?P<m>\d{{1,2}})\.(?P<y>(?:19|20)\d\d)(?!\w|[.-]\w)", "dotted"),
        (rf"{_NO_VERSION}(?P<d>\d\d)\.(?P<m>\d\d)\.(?P<y>\d\d)(?!\w|[.-]\w)", "dotted"),
        (r"(?<![\w/.-])(?P<a>\d{1,2})/(?P<b>\d{1,2})/(?P<y>(?:19|20)\d\d)(?![\w/])", "slashed"),
        (rf"(?:\b(?:from|between) (?:the )?)?{_D}{_DASH}{_D2} (?:of )?{_MONTH}\b{_OF_YEAR}", "days"),
        (rf"(?:\b(?:from|between) )?\b{_MONTH} (?P<d>\d{{1,2}})(?:st|nd|rd|th)?{_DASH}{_D2}{_END}{_OF_YEAR}", "days"),
        (rf"{_D}(?: of)? {_MONTH}(?!\w){_OF_YEAR}", "day"),
        (
            rf"\b{_MONTH} (?:the )?(?P<d>\d{{1,2}})(?P<th>st|nd|rd|th)?{_END}(?! {_COUNTED}){_OF_YEAR}",
            "day",
        ),
        (rf"\b{_MONTH},?(?: of)? {_Y}", "month"),
        (rf"\b(?:(?P<which>{_WHICH}) )?(?P<m>{_FULL})\b(?!['\w-]| \d)", "month alone"),
        (rf"(?<![\w.,:/$€£-]){_Y}(?! (?:\w+ )?{_COUNTED})", "year alone"),
        (rf"(?<=mid-){_Y}", "year alone"),
        (rf"\b(?:from|between|in) {_Y}(?:-|–|—| to | and | till | until ){_Y.replace('<y>', '<y2>')}", "years"),
        (rf"\b(?:(?P<which>{_WHICH}) )?(?P<season>spring|summer|autumn|winter)\b(?! boot| cloud|-)", "season"),
        (rf"\b(?P<season>spring|summer|autumn|fall|winter)(?: of| in)?,? {_Y}\b(?!-)", "season"),
        (rf"\b(?P<which>{_WHICH}) (?P<season>fall)\b", "season"),
        (
            rf"{_NO_OTHER}\b(?:(?P<which>{_WHICH}) )?(?P<w>{_WEEKDAY})\b(?!\.\w)",
            "weekday",
        ),
        (r"\b(?:(?P<which>last|this|next)|on) (?P<w>(?-i:Mon|Tues?|Wed|Thu|Thurs?|Fri|Sat|Sun))\b(?!')", "weekday"),
        (rf"\b(?:on )?(?P<w>{_WEEKDAY}),?(?: of)? (?P<which>last|this|next) week\b", "weekday of week"),
        (rf"\b(?P<which>last|this|next) week(?: on|'s) (?P<w>{_WEEKDAY})\b", "weekday of week"),
        (rf"\b(?P<which>last|this past|this|next|previous) {_UNIT}\b", "unit"),
        (r"\b(?:over|at|on|during) the weekend\b", "weekend"),
        (r"\b(?:the )?(?P<unit>week|weekend|month|year) before last\b", "before last"),
        (rf"\b(?:in|over|during|for|within) the (?:last|past) (?:(?P<n>{_N}) )?{_UNIT}s?\b", "past"),
        (rf"\b(?:the )?(?:last|past) (?P<n>{_N}) {_UNIT}s?\b", "past"),
        (
            rf"(?<![\w.,])(?P<n>{_N}|an?) (?P<unit>day|week|weekend|month|year|hour|minute|second)s? (?:ago|back)\b",
            "ago",
        ),
        (
            rf"\b(?:{_FIXED})\b",
            "fixed",
        ),
        (
            rf"\b{_PART}(?:er)?(?: of| in)? (?:the|this) (?P<unit>week|month|year)\b",
            "part of current",
        ),
        (rf"\bQ(?P<q>[1-4]),?(?: of)? {_Y}", "quarter"),
    ),
    frames=(
        (
            rf"\b(?:in |at |by |around |about )?(?:the )?(?:very )?{_PART}(?: of| in)?(?: the)?[ -]$",
            "part",
        ),
        (r"\b(?:the )?(?P<ord>first|second) half of (?:the )?$", "half"),
        (
            r"\b(?:the )?(?P<ord>first|second|third|fourth|last|final) (?P<unit>week|weekend) (?:of|in) (?:the )?$",
            "ordinal week",
        ),
        (
            rf"\b(?:the )?(?:last )?(?:(?P<n>{_N}) )?{_UNIT_OR_DAY} {_SIDE} (?:the )?(?:on )?$",
            "beside",
        ),
    ),
)
