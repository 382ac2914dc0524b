"""What a JSON value is in memory, and the bounds that hold for it.

Spec: docs/spec/content/json.md: finite numbers, Unicode scalar values, names that are
strings, nesting of at most 64, exact integers.
"""

from math import isfinite
from typing import Final, TypeAlias, cast

from blockwire.errors import LocalProtocolError
from blockwire.jsontext.source import pointer

Json: TypeAlias = None | bool | int | float | str | list["Json"] | dict[str, "Json"]

# docs/spec/content/json.md. Levels of arrays and objects, of which the outermost is 1.
# A scalar is no level: it may stand inside the 64th.
DEPTH_MAX: Final = 64

# docs/spec/content/json.md. Levels that are read back from our own store and gateway: a door counts
# from the root of what is sent, and an event, a message, a page or a snapshot around it adds some.
ENVELOPED_DEPTH_MAX: Final = 200

# docs/spec/content/json.md. The largest integer that every reader in binary64
# (JavaScript) holds exactly: the bound of integers in protocol fields. Opaque values go beyond it.
SAFE_INTEGER_MAX: Final = 2**53 - 1

# Decimal digits. CPython and jiter convert no longer integers from or to text, because that takes
# quadratic time (sys.int_info.default_max_str_digits).
INTEGER_DIGITS_MAX: Final = 4300

_INTEGER_END: Final = 10**INTEGER_DIGITS_MAX

# A sentence, and the names and indexes that lead to the place, innermost first.
_Fault: TypeAlias = tuple[str, list[str | int]]


def check_json_value(value: object, *, depth_max: int = DEPTH_MAX) -> Json:
    """Return ``value`` itself (no copy) if it is a JSON value that can be encoded at any time.

    Only the exact types ``None``, ``bool``, ``int``, ``float``, ``str``, ``list`` and ``dict``
    pass: a tuple or a subclass would come back from a store as something else.

    Args:
        value: Anything.
        depth_max: Levels of arrays and objects, the outermost being 1.

    Raises:
        LocalProtocolError: ``invalid_json_value``, with a pointer, for another type, a name that
            is not a string, NaN, an infinity, a lone surrogate, an integer of more than
            :data:`INTEGER_DIGITS_MAX` digits, or more than ``depth_max`` levels (a value that
            contains itself among them).
    """
    fault = _find_fault(value, depth_max)
    if fault is not None:
        sentence, tokens = fault
        raise LocalProtocolError("invalid_json_value", sentence, pointer=pointer(reversed(tokens)))
    return cast("Json", value)


def is_scalar_text(text: str) -> bool:
    """Tell whether ``text`` holds Unicode scalar values only, which means no lone surrogate."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _find_fault(value: object, levels_left: int) -> _Fault | None:
    kind = type(value)
    if kind is dict or kind is list:
        if levels_left <= 0:
            return "nested too deeply", []
        if kind is dict:
            return _find_object_fault(cast("dict[object, object]", value), levels_left - 1)
        return _find_array_fault(cast("list[object]", value), levels_left - 1)
    sentence = _scalar_fault(value)
    return (sentence, []) if sentence else None


def _find_object_fault(members: dict[object, object], levels_left: int) -> _Fault | None:
    for name, member in members.items():
        if type(name) is not str:
            return "a member name is not a string", []
        if not is_scalar_text(name):
            return "a member name holds a lone surrogate", []
        if type(member) is str and member.isascii():
            continue
        fault = _find_fault(member, levels_left)
        if fault is not None:
            fault[1].append(name)
            return fault
    return None


def _find_array_fault(items: list[object], levels_left: int) -> _Fault | None:
    for index, item in enumerate(items):
        fault = _find_fault(item, levels_left)
        if fault is not None:
            fault[1].append(index)
            return fault
    return None


def _scalar_fault(value: object) -> str | None:
    """Return a sentence about what is wrong with a value that is no array or object."""
    if type(value) is str:
        return None if is_scalar_text(value) else "a string holds a lone surrogate"
    if value is None or type(value) is bool:
        return None
    if type(value) is int:
        return None if -_INTEGER_END < value < _INTEGER_END else "an integer has too many digits"
    if type(value) is float:
        return None if isfinite(value) else "a number is not finite"
    return f"not a JSON type: {type(value).__name__}"
