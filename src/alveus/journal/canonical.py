"""Canonical JSON, RFC 8785 (JCS), within the domain of spec/journal.md, section 2.

One value has one spelling, so a signature over bytes is a signature over the value. `encode` refuses what has no
canonical form that parses back to itself; `parse` accepts nothing but canonical bytes.

A native encoder is used where it cannot differ from the reference: every key ASCII (encoders sort by code point, the
standard by UTF-16 unit), no float (their spelling is the encoder's choice), integers within ±(2^53−1).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from json.encoder import encode_basestring as quote
from typing import Any, Final

from alveus.errors import InputError
from alveus.journal.record import MAX_DEPTH

MAX_INTEGER: Final = 2**53 - 1


class NotCanonical(InputError):
    """The value has no canonical form, or the bytes are not it."""

    default_code = "not_canonical"


def encode(value: Any, *, depth: int = 1) -> bytes:
    """The canonical bytes of `value`, which lies at nesting level `depth`.

    Raises NotCanonical for NaN, infinity, a lone surrogate, an integer beyond ±(2^53−1), a float whose canonical form
    does not parse back to itself (1e20), a key that is not a string, nesting deeper than 32, or a foreign type.
    """
    try:
        if type(value) is str or _plain(value, depth):
            return _native_encode(value)
        return _reference(value).encode()
    except UnicodeEncodeError:
        raise NotCanonical(
            "the text holds a lone surrogate, which no UTF-8 file can hold",
            hint="replace it, for instance with text.encode('utf-8', 'replace').decode()",
        ) from None
    except RecursionError:
        raise _too_deep() from None


def encode_text(text: str) -> bytes:
    """As `encode`, of text."""
    try:
        return _native_encode(text) if type(text) is str else encode(text)
    except UnicodeEncodeError:
        return encode(text)  # which says what is wrong


def encode_merged(own: Mapping[str, Any], checked: dict[str, Any], *, depth: int) -> bytes:
    """As encode({**own, **checked}), where `checked` is known to be within the domain, with ASCII keys and no float."""
    if own and not is_plain(own, depth):
        return encode({**own, **checked}, depth=depth)
    try:
        return _native_encode({**own, **checked})
    except UnicodeEncodeError:
        return encode({**own, **checked}, depth=depth)


def parse(data: bytes) -> Any:
    """The value whose canonical bytes are `data`; raises NotCanonical for any other bytes."""
    try:
        value = json.loads(data.decode(), parse_constant=_refuse_constant)
        _plain(value, 1)
        again = _reference(value).encode()
    except UnicodeEncodeError:
        raise NotCanonical("the line escapes a lone surrogate") from None
    except RecursionError:
        raise _too_deep() from None
    except ValueError as error:
        raise NotCanonical(f"the line is not JSON: {error}") from None
    if again != data:
        raise NotCanonical("the bytes are not the canonical form of what they say")
    return value


def parse_quickly(data: bytes) -> Any:
    """The value of `data` if a native parse and a native spelling give `data` back, else None.

    Not yet a judgement: the bytes are canonical only where `is_plain` holds for the value too.
    """
    try:
        value = _native_decode(data)
        return value if _native_encode(value) == data else None
    except (ValueError, TypeError, RecursionError, NotCanonical):
        return None


def decode(data: bytes) -> Any:
    """The value of bytes that are known to be canonical."""
    return _native_decode(data) if data.isascii() else json.loads(data)


def is_plain(value: Any, depth: int) -> bool:
    """Whether the native encoder's spelling of `value`, at nesting level `depth`, is the canonical one for certain."""
    try:
        return _plain(value, depth)
    except NotCanonical:
        return False


def _refuse_constant(name: str) -> None:
    raise NotCanonical(f"{name} is not a JSON value")


def _too_deep() -> NotCanonical:
    return NotCanonical(f"nested deeper than {MAX_DEPTH} levels", hint="flatten the metadata or store it as text")


def _plain(value: Any, depth: int) -> bool:
    """Whether the native encoder may spell `value`; raises where the value is outside the domain."""
    kind = type(value)
    if kind is str or value is None or kind is bool:
        return True
    if kind is int:
        return _whole(value)
    if kind is float:
        _spell_float(value)
        return False
    if isinstance(value, Mapping):
        return _plain_mapping(value, depth)
    if isinstance(value, list | tuple):
        if depth > MAX_DEPTH:
            raise _too_deep()
        plain = True
        for item in value:  # every item is looked at: one that is not plain does not excuse the next
            plain &= _plain(item, depth + 1)
        return plain
    if isinstance(value, str | int):  # enumerations and other subclasses: the reference spells their plain value
        return _plain(str.__str__(value) if isinstance(value, str) else int(value), depth) and False
    raise NotCanonical(f"{kind.__name__} is not a JSON type", hint="use strings, numbers, booleans, lists and objects")


def _plain_mapping(value: Mapping[Any, Any], depth: int) -> bool:
    if depth > MAX_DEPTH:
        raise _too_deep()
    plain = type(value) is dict
    for key, item in value.items():
        if type(key) is not str:
            raise NotCanonical(f"a key is {type(key).__name__}, not a string", hint="use string keys")
        plain = key.isascii() & _plain(item, depth + 1) & plain
    return plain


def _whole(value: int) -> bool:
    if -MAX_INTEGER <= value <= MAX_INTEGER:
        return True
    raise NotCanonical(
        f"the integer {value if value.bit_length() < 256 else 'given'} is beyond ±(2^53−1)", hint="store it as a string"
    )


def _reference(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return quote(str.__str__(value))
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        return _spell_float(value)
    if isinstance(value, Mapping):
        keys = sorted(value, key=_utf16)
        return "{" + ",".join([f"{quote(key)}:{_reference(value[key])}" for key in keys]) + "}"
    return "[" + ",".join([_reference(item) for item in value]) + "]"


def _utf16(key: str) -> bytes:
    return key.encode("utf-16-be")


def _spell_float(value: float) -> str:
    """ECMAScript's spelling of a float, refused where it would be read back as another number."""
    if not math.isfinite(value):
        raise NotCanonical(f"{value} is not a JSON number", hint="use null, or store it as a string")
    text = _ecmascript(value)
    if "." not in text and "e" not in text and abs(int(text)) > MAX_INTEGER:
        raise NotCanonical(
            f"the float {value!r} is spelled {text}, which reads back as an integer beyond ±(2^53−1)",
            hint="store it as a string",
        )
    return text


def _ecmascript(value: float) -> str:
    if value == 0:
        return "0"
    sign, digits, point = _decimal(value)
    if 0 < point <= 21:
        whole, rest = digits[:point].ljust(point, "0"), digits[point:]
        return sign + (f"{whole}.{rest}" if rest else whole)
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    mantissa = digits if len(digits) == 1 else f"{digits[0]}.{digits[1:]}"
    return f"{sign}{mantissa}e{point - 1:+d}"


def _decimal(value: float) -> tuple[str, str, int]:
    """Sign, shortest digits and the place of the point: value = ±0.digits × 10^point."""
    mantissa, _, exponent = repr(abs(value)).partition("e")
    whole, _, rest = mantissa.partition(".")
    digits = (whole + rest).lstrip("0")
    point = len(whole) + int(exponent or 0)
    if whole == "0":
        point -= len(rest) - len(rest.lstrip("0")) + 1
    digits = digits.rstrip("0")
    return ("-" if value < 0 else ""), digits, point


def _stdlib_encode(value: Any) -> bytes:
    return _SORTED(value).encode()


def _stdlib_decode(data: bytes) -> Any:
    return json.loads(data, parse_constant=_refuse_constant)


_SORTED = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode

_native_encode: Callable[[Any], bytes] = _stdlib_encode
_native_decode: Callable[[bytes], Any] = _stdlib_decode

try:
    import orjson
except ImportError:
    NATIVE = "json"
else:
    NATIVE = "orjson"

    def _orjson_encode(value: Any) -> bytes:
        try:
            return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)
        except TypeError:  # lone surrogates, and types the standard encoder spells: it decides
            return _stdlib_encode(value)

    _native_encode = _orjson_encode
    _native_decode = orjson.loads
