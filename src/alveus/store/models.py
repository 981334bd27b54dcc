"""`openai:MODEL`: a language model behind an endpoint that speaks OpenAI's protocol, as a summariser.

An extra, and never needed: without one the extractive summariser works alone. The words of the records leave the
machine: it is chosen, never found. What it may cost in a day is counted before a question is asked, in tiers.db.

    ALVEUS_MODEL            openai:MODEL, or none
    ALVEUS_MODEL_BASE_URL   the endpoint (OPENAI_BASE_URL)
    ALVEUS_MODEL_TIMEOUT    seconds for one answer (20)
    ALVEUS_MODEL_RETRIES    times it is asked again after no answer (1, at most 5)
    ALVEUS_MODEL_CALLS      questions a day (1000)
    ALVEUS_MODEL_TOKENS     tokens a day, both ways (1000000)

The key is OPENAI_API_KEY.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final, Protocol

from alveus.errors import InputError, StoreError

if TYPE_CHECKING:
    from datetime import datetime

    from alveus.store.database import Database

VARIABLE: Final = "ALVEUS_MODEL"
_MOST_RETRIES: Final = 5
_MOST_SECONDS: Final = 600
_PAUSE: Final = 8.0
"""The longest that the package waits before it tries again."""
_ANSWER_TOKENS: Final = 1_500
_CHARS_A_TOKEN: Final = 2
"""On the dear side, for what is counted before an answer says what it cost."""


class Clock(Protocol):
    """Where the day comes from."""

    def now(self) -> datetime: ...


class Prompted(Protocol):
    """A request, as far as a model sees it."""

    @property
    def instructions(self) -> str: ...
    @property
    def prompt(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Which model, where, how patiently, and what it may cost in a day."""

    model: str
    base_url: str | None = None
    timeout: float = 20.0
    retries: int = 1
    calls: int = 1_000
    tokens: int = 1_000_000


def choose(name: str | None, db: Database, clock: Clock) -> Endpoint | None:
    """The summariser of that name, or of ALVEUS_MODEL; None for `none` and where nothing is named.

    Raises InputError for a name that is none, or a choice that cannot be had here.
    """
    asked = name if name is not None else os.environ.get(VARIABLE) or "none"
    if asked == "none":
        return None
    kind, _, model = asked.partition(":")
    if kind != "openai" or not model:
        raise InputError(f"there is no model {asked!r}", hint="openai:MODEL, or none")
    if find_spec("openai") is None:
        raise InputError("the package openai is not installed", hint="pip install 'alveus[openai]'")
    if not os.environ.get("OPENAI_API_KEY"):
        raise InputError("OPENAI_API_KEY is not set", hint="set it; a server that needs no key takes any")
    return Endpoint(_settings(model), db, clock)


def _settings(model: str) -> Settings:
    usual = Settings(model=model)
    return Settings(
        model=model,
        base_url=os.environ.get("ALVEUS_MODEL_BASE_URL") or os.environ.get("OPENAI_BASE_URL") or None,
        timeout=float(_number("TIMEOUT", int(usual.timeout), _MOST_SECONDS)),
        retries=_number("RETRIES", usual.retries, _MOST_RETRIES),
        calls=_number("CALLS", usual.calls, 10**9),
        tokens=_number("TOKENS", usual.tokens, 10**12),
    )


def _number(what: str, usual: int, most: int) -> int:
    text = os.environ.get(f"{VARIABLE}_{what}") or str(usual)
    if not (text.isascii() and text.isdigit() and int(text) <= most):
        raise InputError(f"{VARIABLE}_{what} is {text!r}", hint=f"a whole number, at most {most}")
    return int(text)


class Endpoint:
    """A chat model behind an endpoint."""

    def __init__(self, settings: Settings, db: Database, clock: Clock) -> None:
        self.id = f"openai:{settings.model}"
        self.settings = settings
        self._db = db
        self._clock = clock

    @property
    def patience(self) -> float:
        """Seconds after which no answer will come any more: every try, and the pauses between."""
        return (self.settings.timeout + _PAUSE) * (self.settings.retries + 1)

    @cached_property
    def _client(self) -> Any:
        import openai  # noqa: PLC0415  (half a second, for whoever chose it)

        settings = self.settings
        return openai.OpenAI(base_url=settings.base_url, timeout=settings.timeout, max_retries=settings.retries)

    def answer(self, request: Prompted) -> str | None:
        """One answer. Raises StoreError where there is none, or where the day's limit is reached."""
        import openai  # noqa: PLC0415

        instructions, prompt = request.instructions, request.prompt
        day = self._clock.now().date().isoformat()
        expected = (len(instructions) + len(prompt)) // _CHARS_A_TOKEN + _ANSWER_TOKENS
        self._charge(day, expected)
        try:
            made = self._client.chat.completions.create(
                model=self.settings.model,
                messages=[{"role": "system", "content": instructions}, {"role": "user", "content": prompt}],
                temperature=0,
                max_tokens=_ANSWER_TOKENS,
            )
            text = made.choices[0].message.content
        except (openai.OpenAIError, ValueError, LookupError, AttributeError, TypeError) as error:
            raise StoreError(
                f"the model {self.id} gave no answer: {type(error).__name__}",
                code="no_answer",
                hint="check the base URL, OPENAI_API_KEY and the model's name",
            ) from error
        used = getattr(getattr(made, "usage", None), "total_tokens", None)
        if isinstance(used, int) and 0 <= used != expected:
            self._db.spend(day, 0, used - expected)
        return text if isinstance(text, str) else None

    def _charge(self, day: str, tokens: int) -> None:
        """Count a question before it is asked, so that no number of processes passes the limit together."""
        with self._db.writing():
            calls, spent = self._db.spent(day)
            if calls + 1 > self.settings.calls or spent + tokens > self.settings.tokens:
                raise StoreError(
                    f"the limit for {self.id} is reached for {day}: {calls} calls, {spent} tokens",
                    code="cost_cap",
                    hint="wait until tomorrow (UTC), or raise ALVEUS_MODEL_CALLS or ALVEUS_MODEL_TOKENS",
                )
            self._db.spend(day, 1, tokens)
