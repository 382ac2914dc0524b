"""The terminal's end of a connection, driven by lines of JSON or by a terminal.

Spec: docs/spec/terminal/tools.md, "Endpoint". Nothing is shown: it is there to be tested against.
"""

from __future__ import annotations

import base64
import binascii
import itertools
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any, Final

import msgspec

from blockwire.cli.wirelines import LINE_BYTES_MAX, LONG_LINE, message_json
from blockwire.errors import BlockwireError, LocalProtocolError
from blockwire.jsontext import Json, decode_json
from blockwire.terminal import (
    CONTENT_TYPES,
    Effect,
    Endpoint,
    Limits,
    Operation,
    PassThrough,
    Reply,
    TerminalSession,
)
from blockwire.terminal.vocabulary import ERROR_PATHS, PLAIN, OperationErrorCode

__all__ = ["LineEndpoint", "answer_terminal"]

READ_BYTES: Final = 65_536
DA1_ANSWER: Final = b"\x1b[?62c"
"""What every application is told that asks for primary device attributes: a VT220."""
_DA1_REQUEST: Final = re.compile(rb"\x1b\[0?c")
_DA1_BEGUN: Final = re.compile(rb"\x1b(?:\[0?)?\Z")

THROW: Final = "throw"
"""In ``host_prepare``: the host fails instead of deciding."""

OPTIONAL_TYPES: Final = tuple(name for name in CONTENT_TYPES if name != PLAIN)
_DECISIONS: Final = frozenset(
    {
        THROW,
        *(code for code, (_control, is_for_operation) in ERROR_PATHS.items() if is_for_operation),
    }
)
# The value of `options` stands one level below the line.
_DEPTH_MAX: Final = 64


class _HostFailed(Exception):  # noqa: N818 - what the script asks for
    """The scripted host has failed."""


class LineEndpoint:
    """An endpoint that is told what to do by lines, and answers each with one line.

    Contexts are called ``context-1``, ``context-2`` and so on.
    """

    def __init__(self) -> None:
        self._decisions: dict[str, str] = {}
        self._has_begun = False
        self._endpoint = self._new_endpoint({})

    def answer(self, number: int, line: bytes) -> dict[str, Json]:
        """Return the line that answers line ``number``; a bad one changes nothing."""
        try:
            return self._answered(self._do(line))
        except BlockwireError as error:
            return {"error": error.code, "detail": error.detail, "line": number}

    def _do(self, line: bytes) -> Iterable[Effect]:
        if line == LONG_LINE:
            raise _refuse("document_too_large", f"longer than {LINE_BYTES_MAX // 2**20} MiB")
        value: Any = decode_json(line, depth_max=_DEPTH_MAX)
        if not isinstance(value, dict):
            raise _refuse("invalid_member", "a line is an object")
        names = [name for name in _LINES if name in value]
        if len(names) != 1:
            raise _refuse("missing_member", f"a line has one of {', '.join(_LINES)}")
        perform, others = _LINES[names[0]]
        unknown = value.keys() - {names[0], *others}
        if unknown:
            raise _refuse("unknown_field", f"{names[0]} goes without {', '.join(sorted(unknown))}")
        effects = perform(self, value)
        self._has_begun = True
        return effects

    def _receive(self, value: Mapping[str, Any]) -> Iterable[Effect]:
        encoded = value["bytes_base64"]
        try:
            data = base64.b64decode(encoded, validate=True)
        except (TypeError, ValueError, binascii.Error):
            raise _refuse("invalid_member", "bytes_base64 is base64") from None
        return self._endpoint.receive_data(data)

    def _do_host(self, value: Mapping[str, Any]) -> Iterable[Effect]:
        needed = _HOSTS.get(value["host"]) if isinstance(value["host"], str) else None
        if needed is None:
            raise _refuse("invalid_member", f"host is one of {', '.join(_HOSTS)}")
        ids = {name: value[name] for name in value if name != "host"}
        if ids.keys() != set(needed) or not all(isinstance(name, str) for name in ids.values()):
            wanted = ", ".join(needed) or "nothing"
            raise _refuse("invalid_member", f"{value['host']} goes with {wanted}, as text")
        match value["host"]:
            case "invalidate-context":
                return self._endpoint.invalidate(ids["context_id"])
            case "evict-block":
                return self._endpoint.evict(ids["context_id"], ids["block_id"])
            case _:
                return self._endpoint.end_of_stream()

    def _set_decisions(self, value: Mapping[str, Any]) -> Iterable[Effect]:
        self._decisions.update(_read_decisions(value["host_prepare"]))
        return ()

    def _set_options(self, value: Mapping[str, Any]) -> Iterable[Effect]:
        options = value["options"]
        if self._has_begun:
            raise _refuse("options_not_first", "options come first, or not at all")
        if not isinstance(options, dict):
            raise _refuse("invalid_member", "options is an object")
        unknown = options.keys() - _OPTIONS
        if unknown:
            raise _refuse("unknown_field", f"options are {', '.join(sorted(_OPTIONS))}")
        decisions = _read_decisions(options.get("host_prepare", {}))
        self._endpoint = self._new_endpoint(options)
        self._decisions.update(decisions)
        return ()

    def _new_endpoint(self, options: Mapping[str, Any]) -> Endpoint:
        types, is_complete = (
            options.get("optional_content_types", []),
            options.get("complete_baseline_supported", True),
        )
        if not isinstance(types, list) or not all(isinstance(name, str) for name in types):
            raise _refuse("invalid_member", "optional_content_types is an array of texts")
        if not isinstance(is_complete, bool):
            raise _refuse("invalid_member", "complete_baseline_supported is true or false")
        session = TerminalSession(
            new_context_id=_numbered(),
            optional_content_types=types,
            is_baseline_complete=is_complete,
            limits=_read_limits(options.get("limits", {})),
        )
        return Endpoint(session, decide=self._decide)

    def _decide(self, operation: Operation) -> OperationErrorCode | None:
        decision: Any = self._decisions.get(operation.operation_id)
        if decision == THROW:
            raise _HostFailed
        return decision  # type: ignore[no-any-return]

    def _answered(self, effects: Iterable[Effect]) -> dict[str, Json]:
        replies: list[Json] = []
        data = bytearray()
        for effect in effects:
            if isinstance(effect, Reply):
                replies.append(message_json(effect.message))
            elif isinstance(effect, PassThrough):
                data += effect.data
        return {
            "replies": replies,
            "data_base64": base64.b64encode(data).decode(),
            "blocks": list(self._blocks()),
        }

    def _blocks(self) -> Iterator[dict[str, Json]]:
        for context in self._endpoint.session.contexts.values():
            for block in context.blocks.values():
                data = None if block.content is None else block.content.data()
                yield {
                    "context_id": block.context_id,
                    "block_id": block.block_id,
                    "type": block.content_type,
                    "data": msgspec.to_builtins(data),
                    "lifecycle": block.lifecycle,
                    "content_state": block.content_state,
                }


_OPTIONS: Final = frozenset(
    {"complete_baseline_supported", "host_prepare", "limits", "optional_content_types"}
)
# what a host does -> the ids that say to what
_HOSTS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "invalidate-context": ("context_id",),
        "evict-block": ("context_id", "block_id"),
        "end-of-connection": (),
    }
)
# member -> (what it does, what may stand beside it)
_LINES: Final[
    Mapping[
        str, tuple[Callable[[LineEndpoint, Mapping[str, Any]], Iterable[Effect]], tuple[str, ...]]
    ]
] = MappingProxyType(
    {
        "bytes_base64": (LineEndpoint._receive, ()),  # noqa: SLF001 - a table of its own methods
        "host": (LineEndpoint._do_host, ("context_id", "block_id")),  # noqa: SLF001
        "host_prepare": (LineEndpoint._set_decisions, ()),  # noqa: SLF001
        "options": (LineEndpoint._set_options, ()),  # noqa: SLF001
    }
)


def _read_decisions(value: Any) -> dict[str, str]:
    if not isinstance(value, dict) or not all(
        isinstance(code, str) and code in _DECISIONS for code in value.values()
    ):
        known = ", ".join(sorted(_DECISIONS))
        raise _refuse("invalid_member", f"host_prepare maps operation ids to one of {known}")
    return value


def _read_limits(value: Any) -> Limits:
    if not isinstance(value, dict) or not all(
        name in Limits.__struct_fields__ and type(most) is int and most >= 0
        for name, most in value.items()
    ):
        known = ", ".join(Limits.__struct_fields__)
        raise _refuse("invalid_member", f"limits maps some of {known} to numbers")
    return Limits(**value)


def _numbered() -> Callable[[], str]:
    numbers = itertools.count(1)
    return lambda: f"context-{next(numbers)}"


def _refuse(code: str, detail: str) -> LocalProtocolError:
    return LocalProtocolError(code, detail)


def answer_terminal(source: int, target: int, *, new_context_id: Callable[[], str]) -> None:
    """Answer the application at a terminal until it leaves; all content types are on offer.

    Requests for primary device attributes (DA1) are answered as well, in their place.

    Args:
        source: File descriptor of what the application writes.
        target: Of what it reads.
        new_context_id: Returns ids that never repeat.
    """
    session = TerminalSession(new_context_id=new_context_id, optional_content_types=OPTIONAL_TYPES)
    endpoint = Endpoint(session)
    tail = b""
    while data := _read(source):
        answers = bytearray()
        for effect in endpoint.receive_data(data):
            if isinstance(effect, Reply):
                answers += effect.data
            elif isinstance(effect, PassThrough):
                ordinary = tail + effect.data
                answers += DA1_ANSWER * len(_DA1_REQUEST.findall(ordinary))
                begun = _DA1_BEGUN.search(ordinary)
                tail = begun[0] if begun else b""
        _write(target, answers)


def _write(target: int, answers: bytes | bytearray) -> None:
    # Until they are taken nothing more is read: so no more than these are kept.
    left = memoryview(answers)
    while left:
        left = left[os.write(target, left) :]


def _read(source: int) -> bytes:
    try:
        return os.read(source, READ_BYTES)
    except OSError:
        # The terminal has been closed.
        return b""
