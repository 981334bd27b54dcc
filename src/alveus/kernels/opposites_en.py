"""What excludes what in English: opposites, quantities, permissions. Data for `contradiction`.

A phrase is matched word by word, by stems; `*` stands for one word.
"""

from typing import Final

OPPOSITES: Final = """
on off; open closed; open shut; opened closed; start stop; started stopped; begin end; enable disable;
enabled disabled; allow forbid; allowed forbidden; allowed banned; permit prohibit; permitted prohibited;
include exclude; included excluded; add remove; added removed; create delete; keep delete; keep discard;
kept deleted; kept discarded; keep drop; save discard; store delete; online offline; connected disconnected;
connect disconnect; public private; internal external; manual automatic; manually automatically;
hand automatically; local remote; before after; first last; early late; earlier later; more less; more fewer;
most least; increase decrease; increased decreased; raise lower; raised lowered; rise fall; grow shrink;
up down; high low; higher lower; large small; larger smaller; big small; bigger smaller; long short;
longer shorter; fast slow; faster slower; quick slow; cheap expensive; cheaper dearer; rich poor; hot cold;
warm cold; wet dry; hard soft; hard easy; easy difficult; simple complex; simple complicated; strong weak;
heavy light; light dark; full empty; same different; true false; right wrong; correct incorrect; valid invalid;
safe dangerous; safe unsafe; legal illegal; possible impossible; healthy ill; alive dead; alone together;
always never; everybody nobody; everyone nobody; everyone none; everything nothing; somewhere nowhere; all none;
accept reject; accepted rejected; accept refuse; approve reject; approved rejected; agree disagree;
agree refuse; pass fail; passed failed; succeed fail; success failure; win lose; found lost; buy sell;
give take; send receive; push pull; import export; lock unlock; locked unlocked; hide show; hidden visible;
remember forget; love hate; like dislike; like hate; enjoy hate; happy sad; formal informal; polite rude;
brief long; brief detailed; short detailed; terse verbose; concise verbose; concise lengthy; summary full;
morning evening; day night; weekday weekend; winter summer; spring autumn; north south; east west; left right;
male female; old new; young old; old modern; former current; past future; temporary permanent;
temporarily permanently; net gross; excluding including; without including; without with; with without;
paid free; plaintext encrypted; encrypted unencrypted; signed unsigned; tested untested; verified unverified;
known unknown; finished unfinished; done undone; install uninstall; mount unmount; subscribe unsubscribe;
upgrade downgrade; stable unstable; active inactive; available unavailable; working broken; works broken;
intact broken; fixed broken; human machine; reads writes; read write; read-only writable; vegetarian meat;
vegan meat; sober drunk; optional mandatory; optional required; voluntary mandatory; required unnecessary;
needed unnecessary; necessary unnecessary; whole half; entire part; inside outside; above below; over under;
top bottom; front back; near far; present absent; attend miss; arrive leave; stay leave; stays leaves;
remain leave; married single; majority minority; profit loss; credit debit; guilty innocent; asleep awake;
drunk sober; clean dirty; loud quiet; loudly quietly; sweet sour; thick thin; wide narrow; deep shallow;
rare frequent; rarely often; seldom often
"""

ALL: Final = """
all, every, each, always, everything, everyone, everybody, any, whole, entire, without exception, in every case
"""

NONE: Final = """
no, none, never, nobody, nothing, no one, nowhere, not one, not a single, neither, in no case, not any
"""

SOME: Final = """
some, sometimes, several, a few, occasionally, at times, not all, not every, not always, most, mostly, often,
usually, in part, partly, one of, still, now and then, from time to time
"""

ONLY: Final = """
only, solely, exclusively, no other, nothing else, nowhere else, nobody else, no one else, but not, alone,
not more, no more, at most, just, sole, single
"""

ALSO: Final = """
also, both, as well, too, either, as well as, and others, in addition, besides, anyone, anybody, whoever,
whatever, whichever, any, anything, anywhere, everyone, or, for example
"""

PERMITS: Final = """
may, can, allowed, permitted, permits, permit, allows, allow, free to, fine, okay, ok, entitled, welcome,
possible, up to you, without asking, without approval, without permission, without a reason, no need, need not,
needn't, don't have to, doesn't have to, do not have to, whatever * like, as * like, as * please, at will,
on its own, by itself, on your own, acceptable, no problem, optional, unrestricted, is free, are free,
not necessary, not required, even if, regardless
"""

FORBIDS: Final = """
may not, must not, mustn't, cannot, can't, not allowed, not permitted, forbidden, prohibited, banned, ban,
off limits, nobody may, no one may, never, under no circumstances, refuse, refuses, do not, don't,
isn't allowed, aren't allowed, not acceptable, unacceptable, illegal
"""

REQUIRES: Final = """
must, has to, have to, needs, need, required, requires, mandatory, obligatory, only after, only when, only if,
only once, not before, until, before any, first, unless, approval, permission, consent, agreement, agrees,
approves, ask, asks, asking, reviewed, reviews, sign off
"""

NUMBERS: Final = {
    "zero": 0,
    "one": 1,
    "once": 1,
    "a": 1,
    "an": 1,
    "single": 1,
    "two": 2,
    "twice": 2,
    "both": 2,
    "couple": 2,
    "pair": 2,
    "three": 3,
    "thrice": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
    "eleven": 11,
    "twelve": 12,
    "dozen": 12,
    "few": 3,
    "several": 3,
    "thirteen": 13,
    "fourteen": 14,
    "fortnight": 14,
    "fifteen": 15,
    "sixteen": 16,
    "seventeen": 17,
    "eighteen": 18,
    "nineteen": 19,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "seventy": 70,
    "eighty": 80,
    "ninety": 90,
    "hundred": 100,
    "thousand": 1000,
    "million": 1000000,
    "half": 0.5,
}

WEAK_NUMBERS: Final = frozenset({"a", "an", "one", "single", "both", "once", "half"})
"""Words that are numbers only beside a unit."""

UNITS: Final = {
    "second": ("time", 1),
    "minute": ("time", 60),
    "hour": ("time", 3600),
    "day": ("time", 86400),
    "week": ("time", 604800),
    "fortnight": ("time", 1209600),
    "month": ("time", 2592000),
    "year": ("time", 31536000),
    "line": ("text", 1),
    "sentence": ("text", 1),
    "paragraph": ("text", 5),
    "page": ("text", 30),
    "percent": ("share", 1),
    "%": ("share", 1),
    "gram": ("mass", 1),
    "kilo": ("mass", 1000),
    "kilogram": ("mass", 1000),
    "tonne": ("mass", 1000000.0),
    "metre": ("length", 1),
    "meter": ("length", 1),
    "kilometre": ("length", 1000),
    "kilometer": ("length", 1000),
    "mile": ("length", 1609),
    "euro": ("euro", 1),
    "dollar": ("dollar", 1),
    "pound": ("pound", 1),
}

AT_LEAST: Final = """
at least, no less than, not less than, minimum, above, over, more than, exceeds, exceed, from, or more,
not before, no earlier than, older than, longer than
"""

AT_MOST: Final = """
at most, no more than, not more than, maximum, below, under, less than, fewer than, up to, within, or less,
not more, no longer than, no later than, limit, ceiling
"""

DAYS: Final = {"monday": 1, "tuesday": 2, "wednesday": 3, "thursday": 4, "friday": 5, "saturday": 6, "sunday": 7}

MONTHS: Final = {
    "january": 1,
    "february": 2,
    "march": 3,
    "april": 4,
    "june": 6,
    "july": 7,
    "august": 8,
    "september": 9,
    "october": 10,
    "november": 11,
    "december": 12,
}

NEGATES: Final = """
not no never none nobody nothing nowhere neither nor without cannot hardly unless lacks lack
"""

TOWARDS: Final = "from to into"
"""Between these two values are a change; the other way round it is another change."""

EXTENDS: Final = """
no other, nothing else, nowhere else, nobody else, no one else, no more, not more, no longer than,
no later than, no less, not less, without exception, no matter
"""
"""Negations that only close what was said: no second statement is made by them."""
