"""Checks of blocks, messages and events against the tables in ``fields``.

Spec: docs/spec/content/model.md. Every refusal names the offending member by JSON Pointer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, cast

from blockwire.content.fields import (
    BLOCK_FIELDS,
    COMMON_BLOCK_FIELDS,
    ENUMS,
    MESSAGE_FIELDS,
    REQUEST_FIELDS,
    SCALARS,
    TOOL_CHANGES,
    TURN_FIELDS,
    Field,
    Kind,
)
from blockwire.content.keys import check_keys
from blockwire.content.vocabulary import TERMINAL_STATUSES, Block, Message
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import Json, check_json_value
from blockwire.jsontext import pointer as json_pointer

__all__ = [
    "check_block",
    "check_complete_message",
    "check_members",
    "check_message",
    "check_open_value",
    "is_type",
]

_NO_FIELDS: Final[Mapping[str, Field]] = MappingProxyType({})


def _refuse(code: str, pointer: str, expected: str) -> RemoteProtocolError:
    return RemoteProtocolError(code, f"expected {expected}", pointer=pointer)


def is_type(name: str) -> bool:
    """Return whether ``name``, which is a valid id, may be the type of a block or event.

    Types are an open vocabulary, and every value of a vocabulary is lower-case.
    """
    return name == name.lower()


def check_members(record: Mapping[str, Json], fields: Mapping[str, Field], pointer: str) -> None:
    """Check that ``record`` has the required members and that known ones hold what they should.

    Raises:
        RemoteProtocolError: ``missing_member``, ``invalid_member``, ``invalid_name`` or
            ``invalid_enum``, with a pointer below ``pointer`` (which is empty for the root).
    """
    for name, (kind, required) in fields.items():
        if name in record:
            _check_value(record[name], kind, f"{pointer}/{name}")
        elif required:
            raise RemoteProtocolError(
                "missing_member", f"{name} is required", pointer=f"{pointer}/{name}"
            )


def _check_value(value: Json, kind: Kind, pointer: str) -> None:
    scalar = SCALARS.get(kind)
    if scalar is not None:
        test, code, expected = scalar
        if not test(value):
            raise _refuse(code, pointer, expected)
        return
    values = ENUMS.get(kind)
    if values is not None:
        if not isinstance(value, str) or value not in values:
            raise _refuse("invalid_enum", pointer, "one of " + ", ".join(values))
        return
    _RECORDS[kind](value, pointer)


def _check_object(value: Json, pointer: str, what: str) -> dict[str, Json]:
    if not isinstance(value, dict):
        raise _refuse("invalid_member", pointer, f"{what}, which is an object")
    return value


def _check_array(value: Json, pointer: str, what: str) -> list[Json]:
    if not isinstance(value, list):
        raise _refuse("invalid_member", pointer, f"an array of {what}")
    return value


def check_block(value: Json, pointer: str = "") -> Block:
    """Return ``value`` as a block, keys not checked (the doors check them once, from the root).

    Raises:
        RemoteProtocolError: See :func:`check_members`.
    """
    block = _check_object(value, pointer, "a block")
    check_members(block, COMMON_BLOCK_FIELDS, pointer)
    block_type = cast("str", block["type"])
    if not is_type(block_type):
        raise _refuse("invalid_enum", f"{pointer}/type", "a lower-case block type")
    check_members(block, BLOCK_FIELDS.get(block_type, _NO_FIELDS), pointer)
    return block


def _check_blocks(value: Json, pointer: str) -> None:
    seen: set[str] = set()
    for index, item in enumerate(_check_array(value, pointer, "blocks")):
        block = check_block(item, f"{pointer}/{index}")
        _check_unique(seen, block, f"{pointer}/{index}/id", "block_exists")


def _check_unique(seen: set[str], record: Mapping[str, Json], pointer: str, code: str) -> None:
    record_id = cast("str", record["id"])
    if record_id in seen:
        raise RemoteProtocolError(code, "an id stands for one thing", pointer=pointer)
    seen.add(record_id)


def check_message(value: Json, pointer: str = "") -> Message:
    """Return ``value`` as a message.

    Raises:
        RemoteProtocolError: See :func:`check_members`; ``block_exists`` for a repeated block id.
    """
    message = _check_object(value, pointer, "a message")
    check_members(message, MESSAGE_FIELDS, pointer)
    completed_at = message.get("completed_at")
    if isinstance(completed_at, int) and completed_at < cast("int", message["created_at"]):
        raise _refuse("invalid_member", f"{pointer}/completed_at", "a time not before created_at")
    return message


def check_complete_message(value: Json, pointer: str = "") -> Message:
    """Return ``value`` as a message that will never change: its status is terminal.

    Raises:
        RemoteProtocolError: See :func:`check_message`; ``invalid_enum`` for an unfinished one.
    """
    message = check_message(value, pointer)
    if message["status"] not in TERMINAL_STATUSES:
        raise _refuse("invalid_enum", f"{pointer}/status", "completed, failed or cancelled")
    return message


def _check_messages(value: Json, pointer: str) -> None:
    seen: set[str] = set()
    for index, item in enumerate(_check_array(value, pointer, "messages")):
        message = check_message(item, f"{pointer}/{index}")
        _check_unique(seen, message, f"{pointer}/{index}/id", "message_exists")


def _check_turns(value: Json, pointer: str) -> None:
    seen: set[str] = set()
    for index, item in enumerate(_check_array(value, pointer, "turns")):
        turn = _check_object(item, f"{pointer}/{index}", "a turn")
        check_members(turn, TURN_FIELDS, f"{pointer}/{index}")
        _check_unique(seen, turn, f"{pointer}/{index}/id", "turn_exists")


def _check_tool_changes(value: Json, pointer: str) -> None:
    changes = _check_object(value, pointer, "a set of changes")
    for name in changes:
        if name not in TOOL_CHANGES:
            raise RemoteProtocolError(
                "field_not_mutable",
                "only results, times and status of a tool block change",
                pointer=pointer + json_pointer([name]),
            )
    check_members(changes, TOOL_CHANGES, pointer)


def _check_request(value: Json, pointer: str) -> None:
    check_members(_check_object(value, pointer, "a request"), REQUEST_FIELDS, pointer)


_RECORDS: Final[Mapping[Kind, Callable[[Json, str], Any]]] = MappingProxyType(
    {
        "block": check_block,
        "blocks": _check_blocks,
        "complete_message": check_complete_message,
        "messages": _check_messages,
        "turns": _check_turns,
        "tool_changes": _check_tool_changes,
        "request": _check_request,
    }
)


def check_open_value(value: object) -> Json:
    """Return ``value`` if it may enter through a door of our own format, whoever made it.

    It can be encoded at any time, and its keys obey the rule at every depth.

    Raises:
        RemoteProtocolError: ``invalid_key`` with the pointer of the first bad one.
        LocalProtocolError: ``invalid_json_value`` for what is no JSON value.
    """
    checked = check_json_value(value)
    check_keys(checked)
    return checked
