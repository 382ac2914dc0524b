"""What a message may look like, as the runner checks it in what programs write.

Spec: docs/spec/terminal/messages.md. Tables of its own; see :mod:`blockwire.conform.wire`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, TypeAlias

__all__ = [
    "FROM_APPLICATION",
    "FROM_TERMINAL",
    "OPERATION_CODES",
    "OPERATION_KINDS",
    "REQUEST_KINDS",
    "RESPONSE_KINDS",
    "find_fault",
    "fragment_text",
]

Check: TypeAlias = Callable[[Any], bool]

SCALAR_COUNT_MAX: Final = 2**53 - 1
VERSION_MAX: Final = 2**31 - 1
PLAIN: Final = "text/plain"

_SHARED: Final = frozenset(
    {"invalid_message", "context_not_open", "resource_exhausted", "internal_error"}
)
CONTROL_CODES: Final = _SHARED | {"request_id_conflict"}
OPERATION_CODES: Final = _SHARED | {
    "operation_id_reused",
    "block_id_reused",
    "block_not_found",
    "block_sealed",
    "unsupported_content_type",
    "invalid_content",
    "content_state_mismatch",
    "invalid_content_boundary",
}

RESPONSE_KINDS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "capability.query": "capability.response",
        "context.open": "context.open.response",
        "context.close": "context.close.response",
    }
)
"""Request to response."""
REQUEST_KINDS: Final = frozenset(RESPONSE_KINDS)
OPERATION_KINDS: Final = frozenset(
    {"block.append", "block.update", "block.extend", "block.replace_suffix", "block.seal"}
)
FROM_APPLICATION: Final = REQUEST_KINDS | OPERATION_KINDS
FROM_TERMINAL: Final = frozenset(RESPONSE_KINDS.values()) | {"protocol.error"}


def _is_id(value: Any) -> bool:
    return isinstance(value, str) and bool(value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_count(value: Any) -> bool:
    return type(value) is int and 0 <= value <= SCALAR_COUNT_MAX


def _is_lifecycle(value: Any) -> bool:
    return value in {"mutable", "sealed"} if isinstance(value, str) else False


def _is_empty(value: Any) -> bool:
    return value == {} and isinstance(value, dict)


def _has(value: Any, required: Mapping[str, Check], optional: Mapping[str, Check]) -> bool:
    if not isinstance(value, dict) or not required.keys() <= value.keys():
        return False
    checks = {**required, **optional}
    return all(name in checks and checks[name](member) for name, member in value.items())


def _record(**required: Check) -> Check:
    return lambda value: _has(value, required, {})


def _is_style(value: Any) -> bool:
    members: dict[str, Check] = {"foreground": _is_text, "background": _is_text, "link": _is_text}
    return _has(value, {}, {**members, "attributes": _list_of(_is_text)})


def _list_of(check: Check) -> Check:
    return lambda value: isinstance(value, list) and all(check(item) for item in value)


def _is_span(value: Any) -> bool:
    return _has(value, {"text": _is_text}, {"style": _is_style})


_LAYOUT: Final[Mapping[str, Check]] = MappingProxyType(
    {
        "wrap": _is_text,
        "align": _is_text,
        "first_prefix": _list_of(_is_span),
        "rest_prefix": _list_of(_is_span),
        "fill": _is_style,
    }
)


def _is_line(value: Any) -> bool:
    layout: Check = lambda it: _has(it, {}, _LAYOUT)  # noqa: E731 - a row of the table below
    return _has(value, {"spans": _list_of(_is_span)}, {"layout": layout})


_DATA: Final[Mapping[str, Check]] = MappingProxyType(
    {PLAIN: _is_text, "text/styled": _list_of(_is_span), "text/lines": _list_of(_is_line)}
)


def _is_snapshot(value: Any) -> bool:
    if not _has(value, {"type": _is_id, "data": lambda _: True}, {}):
        return False
    # What a type of somebody else holds is theirs to say.
    return _DATA.get(value["type"], lambda _: True)(value["data"])


def _is_replacement(value: Any) -> bool:
    return any(check(value) for check in _DATA.values())


def _is_fragment(value: Any) -> bool:
    return _is_replacement(value) and len(value) > 0


def _failure(codes: frozenset[str]) -> Check:
    code: Check = lambda value: isinstance(value, str) and value in codes  # noqa: E731
    return lambda value: _has(value, {"code": code}, {"message": _is_text})


def _outcome(**alternatives: Mapping[str, Check]) -> Check:
    def check(value: Any) -> bool:
        outcome = value.get("outcome") if isinstance(value, dict) else None
        if not isinstance(outcome, str) or outcome not in alternatives:
            return False
        return _has(value, {"outcome": _is_text, **alternatives[outcome]}, {})

    return check


def _is_optional_types(value: Any) -> bool:
    return _list_of(_is_id)(value) and len(set(value)) == len(value) and PLAIN not in value


_ERROR: Final = {"error": _failure(CONTROL_CODES)}
_REQUEST: Final = frozenset({"request_id"})
_REQUEST_IN_CONTEXT: Final = frozenset({"request_id", "context_id"})
_OPERATION: Final = frozenset({"operation_id", "context_id"})

# kind -> (ids of its envelope, body)
_KINDS: Final[Mapping[str, tuple[frozenset[str], Check]]] = MappingProxyType(
    {
        "capability.query": (_REQUEST, _is_empty),
        "capability.response": (
            _REQUEST,
            _outcome(
                supported={"optional_content_types": _is_optional_types},
                unsupported={},
                error=_ERROR,
            ),
        ),
        "context.open": (_REQUEST, _is_empty),
        "context.open.response": (_REQUEST, _outcome(opened={}, error=_ERROR)),
        "context.close": (_REQUEST_IN_CONTEXT, _is_empty),
        "context.close.response": (_REQUEST_IN_CONTEXT, _outcome(closed={}, error=_ERROR)),
        "block.append": (
            _OPERATION,
            _record(block_id=_is_id, lifecycle=_is_lifecycle, content=_is_snapshot),
        ),
        "block.update": (_OPERATION, _record(block_id=_is_id, content=_is_snapshot)),
        "block.extend": (
            _OPERATION,
            _record(block_id=_is_id, base_operation_id=_is_id, fragment=_is_fragment),
        ),
        "block.replace_suffix": (
            _OPERATION,
            _record(
                block_id=_is_id,
                base_operation_id=_is_id,
                retain=_is_count,
                replacement=_is_replacement,
            ),
        ),
        "block.seal": (_OPERATION, _record(block_id=_is_id)),
        "protocol.error": (_OPERATION, _failure(frozenset(OPERATION_CODES))),
    }
)


_IN_ANY_VERSION: Final[tuple[tuple[str, Mapping[str, Any]], ...]] = (
    ("capability.query", {}),
    ("capability.response", {"outcome": "unsupported"}),
)


def find_fault(message: Mapping[str, Any]) -> str | None:
    """Return why an object is no valid message; None if it is one."""
    kind = message.get("kind")
    if not isinstance(kind, str) or kind not in _KINDS:
        return f"the kind is {kind!r}"
    version = message.get("version")
    if type(version) is not int or not 1 <= version <= VERSION_MAX:
        return f"{kind}: the version is {version!r}"
    ids, is_body = _KINDS[kind]
    body = message.get("body")
    if version != 1 and (kind, body) not in _IN_ANY_VERSION:
        return f"{kind}: nobody knows its form in version {version}"
    if (
        kind == "context.open.response"
        and isinstance(body, dict)
        and body.get("outcome") == "opened"
    ):
        ids |= {"context_id"}
    wanted = {"version", "kind", "body", *ids}
    if message.keys() != wanted:
        return f"{kind}: missing or unknown: {', '.join(sorted(message.keys() ^ wanted))}"
    for name in sorted(ids):
        if not _is_id(message[name]):
            return f"{kind}: {name} is no id"
    return None if is_body(body) else f"{kind}: the body is not in its form"


def fragment_text(value: Any, of_type: str) -> str:
    """Return the logical text of content data, a fragment or a replacement."""
    if isinstance(value, str):
        return value
    if of_type == "text/lines":
        return "\n".join("".join(span["text"] for span in line["spans"]) for line in value)
    return "".join(span["text"] for span in value)
