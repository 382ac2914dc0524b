"""JSON text to values and back, strictly: what is accepted here can be written again.

Spec: docs/spec/content/json.md.

The parser is jiter. It refuses invalid UTF-8, byte-order marks, duplicate names, lone surrogates
and all that RFC 8259 does not allow, but it turns ``1e999`` into an infinity and nests to 200.
The two are found in the finished tree, not in the text: a scan of the text for exponents took ten
times as long as the parsing of one long string.
"""

import re
import sys
from collections.abc import Mapping
from math import isfinite
from types import MappingProxyType
from typing import Any, Final

import jiter
import msgspec

from blockwire.errors import LocalProtocolError, RemoteProtocolError
from blockwire.jsontext.values import DEPTH_MAX, Json

_BOM: Final = b"\xef\xbb\xbf"

# How jiter's messages begin -> our code and sentence. Its own text may quote a member name, which
# belongs into no log; the place at its end does.
_REFUSALS: Final[tuple[tuple[str, str, str], ...]] = (
    ("Detected duplicate key", "duplicate_member", "an object names a member twice"),
    ("recursion limit", "nesting_too_deep", "nested too deeply"),
    ("number out of range", "number_out_of_range", "an integer has too many digits"),
    ("lone leading surrogate", "invalid_unicode", "a string holds a lone surrogate"),
    ("unexpected end of hex escape", "invalid_unicode", "a string holds a lone surrogate"),
)
_PLACE: Final = re.compile(r" at (line [0-9]+ column [0-9]+)\Z")

# Values of these types have no levels below them and cannot be infinite.
_PLAIN: Final = frozenset({str, int, bool, type(None)})

_SENTENCES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "nesting_too_deep": "nested too deeply",
        "number_out_of_range": "a number is not a finite binary64",
    }
)

_encode: Final = msgspec.json.Encoder().encode


def decode_json(data: bytes, *, depth_max: int = DEPTH_MAX) -> Json:
    """Return the value of one JSON text.

    Integers are exact, numbers with a fraction or an exponent are binary64, members keep their
    order. Takes time linear in the length of ``data``.

    Args:
        data: UTF-8; blanks around the value are allowed.
        depth_max: Levels of arrays and objects, the outermost being 1; at most 200.

    Raises:
        RemoteProtocolError: ``invalid_unicode`` for invalid UTF-8 or a lone surrogate,
            ``duplicate_member`` for a name that occurs twice in an object (after unescaping),
            ``nesting_too_deep``, ``number_out_of_range`` for a number that is no finite binary64
            or an integer of more than :data:`~blockwire.jsontext.INTEGER_DIGITS_MAX` digits, else
            ``invalid_json``. The detail names the place and never quotes the text.
    """
    try:
        value: Json = jiter.from_json(
            data, catch_duplicate_keys=True, allow_inf_nan=False, cache_mode="keys"
        )
    except ValueError as error:
        raise _refusal(data, str(error)) from None
    # Nearly all events are one flat object of strings and integers; that is seen at once.
    if type(value) is dict and depth_max > 0 and _PLAIN.issuperset(map(type, value.values())):
        return value
    code = _find_fault(value, depth_max)
    if code is not None:
        raise RemoteProtocolError(code, _SENTENCES[code])
    return value


def encode_json(value: Json) -> bytes:
    """Return ``value`` as compact UTF-8 JSON, members in their order.

    All beyond ASCII is written as it is. Line breaks are always escaped, so the text fits one line
    of NDJSON or of an event stream. Equal texts mean equal values and the other way round.

    Args:
        value: One that :func:`~blockwire.jsontext.check_json_value` accepts or
            :func:`decode_json` returned. Of another Python type the text is not defined.

    Raises:
        LocalProtocolError: ``invalid_json_value`` for NaN, an infinity, a lone surrogate, an
            integer with too many digits, or a value that contains itself.
    """
    try:
        text = _encode(value)
    except RecursionError:
        raise LocalProtocolError("invalid_json_value", "nested too deeply") from None
    except UnicodeEncodeError:
        raise LocalProtocolError("invalid_json_value", "a string holds a lone surrogate") from None
    except (ValueError, TypeError) as error:
        sentence = f"cannot be encoded: {type(error).__name__}"
        raise LocalProtocolError("invalid_json_value", sentence) from None
    # msgspec writes numbers that are not finite as null. A null is rare, so look only then.
    if b"null" in text and _find_fault(value, sys.maxsize) is not None:
        raise LocalProtocolError("invalid_json_value", "a number is not finite")
    return text


def equal_json(left: Json, right: Json) -> bool:
    """Tell whether two values are the same: equal JSON values, members in their order.

    ``True`` is not 1. Numbers written as integers and numbers written with a fraction or an
    exponent are different values (``1`` and ``1.0``, ``0.0`` and ``-0.0``): what a peer could tell
    apart is not the same.
    """
    if left is right:
        return True
    # Python's equality is coarser than ours (True == 1 == 1.0, any order of members) and cheap.
    return left == right and encode_json(left) == encode_json(right)


def _find_fault(value: Any, depth_max: int) -> str | None:
    """Return the code of what is wrong with a tree: its depth, or a number that is not finite.

    Goes down level by level without recursion: 20 to 50 ns a value. ``Any`` because a cast costs
    as much as the rest of the loop.
    """
    # A list around it makes a lone number a member too; that list is level 0.
    level: list[Any] = [[value]]
    levels_left = depth_max
    while True:
        below: list[Any] = []
        for holder in level:
            for member in holder.values() if type(holder) is dict else holder:
                kind = type(member)
                if kind is str or kind is int:
                    continue
                if kind is dict or kind is list:
                    below.append(member)
                elif kind is float and not isfinite(member):
                    return "number_out_of_range"
        if not below:
            return None
        if levels_left <= 0:
            return "nesting_too_deep"
        level = below
        levels_left -= 1


def _refusal(data: bytes, message: str) -> RemoteProtocolError:
    """Return the error for a text that jiter refused; here time does not matter."""
    place = _PLACE.search(message)
    where = f" at {place[1]}" if place else ""
    for beginning, code, sentence in _REFUSALS:
        if message.startswith(beginning):
            return RemoteProtocolError(code, sentence + where)
    if data.startswith(_BOM):
        return RemoteProtocolError("invalid_json", "a byte-order mark is not allowed")
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return RemoteProtocolError("invalid_unicode", f"not UTF-8 at byte {error.start}")
    return RemoteProtocolError("invalid_json", "not JSON" + where)
