"""Checks of blocks, messages and events against the tables in ``fields``.

Spec: docs/spec/content/model.md. Every refusal names the first offending member by JSON Pointer.
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
    Field,
    Kind,
)
from blockwire.content.keys import check_keys
from blockwire.content.vocabulary import TERMINAL_STATUSES, Block, Message
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import Json

__all__ = ["check_block", "check_complete_message", "check_members", "check_message"]

_NO_FIELDS: Final[Mapping[str, Field]] = MappingProxyType({})


def _refuse(code: str, pointer: str, expected: str) -> RemoteProtocolError:
    return RemoteProtocolError(code, f"expected {expected}", pointer=pointer)


def check_members(record: Mapping[str, Json], fields: Mapping[str, Field], pointer: str) -> None:
    """Check that ``record`` has the required members and that known ones hold what they should.

    Raises:
        RemoteProtocolError: ``missing_member``, ``invalid_member``, ``invalid_name`` or
            ``invalid_enum``, with a pointer below ``pointer``.
    """
    for name, (kind, required) in fields.items():
        if name not in record:
            if required:
                raise RemoteProtocolError(
                    "missing_member", f"{name} is required", pointer=pointer or "/"
                )
            continue
        _check_value(record[name], kind, f"{pointer}/{name}")


def _check_value(value: Json, kind: Kind, pointer: str) -> None:
    scalar = SCALARS.get(kind)
    if scalar is not None:
        test, code, expected = scalar
        if not test(value):
            raise _refuse(code, pointer, expected)
        return
    values = ENUMS.get(kind)
    if values is not None:
        if value not in values or not isinstance(value, str):
            raise _refuse("invalid_enum", pointer, "one of " + ", ".join(values))
        return
    _RECORDS[kind](value, pointer)


def check_block(value: Json, pointer: str = "") -> Block:
    """Return ``value`` as a block, keys not checked (the doors check them once, from the root).

    Raises:
        RemoteProtocolError: See :func:`check_members`.
    """
    if not isinstance(value, dict):
        raise _refuse("invalid_member", pointer, "a block, which is an object")
    check_members(value, COMMON_BLOCK_FIELDS, pointer)
    block_type = cast("str", value["type"])
    if not block_type or block_type != block_type.lower():
        raise _refuse("invalid_enum", f"{pointer}/type", "a lower-case block type")
    check_members(value, BLOCK_FIELDS.get(block_type, _NO_FIELDS), pointer)
    return value


def _check_blocks(value: Json, pointer: str) -> None:
    if not isinstance(value, list):
        raise _refuse("invalid_member", pointer, "an array of blocks")
    seen: set[Json] = set()
    for index, item in enumerate(value):
        block_id = cast("str", check_block(item, f"{pointer}/{index}")["id"])
        if block_id in seen:
            raise RemoteProtocolError(
                "block_exists",
                "block ids are unique in their message",
                pointer=f"{pointer}/{index}/id",
            )
        seen.add(block_id)


def check_message(value: Json, pointer: str = "") -> Message:
    """Return ``value`` as a message.

    Raises:
        RemoteProtocolError: See :func:`check_members`; ``block_exists`` for a repeated block id.
    """
    if not isinstance(value, dict):
        raise _refuse("invalid_member", pointer, "a message, which is an object")
    check_members(value, MESSAGE_FIELDS, pointer)
    completed_at = value.get("completed_at")
    if isinstance(completed_at, int) and completed_at < cast("int", value["created_at"]):
        raise _refuse("invalid_member", f"{pointer}/completed_at", "a time not before created_at")
    return value


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
    if not isinstance(value, list):
        raise _refuse("invalid_member", pointer, "an array of messages")
    for index, item in enumerate(value):
        check_message(item, f"{pointer}/{index}")


def _check_tool_changes(value: Json, pointer: str) -> None:
    if not isinstance(value, dict):
        raise _refuse("invalid_member", pointer, "an object")
    for name in value:
        if name not in TOOL_CHANGES:
            raise RemoteProtocolError(
                "field_not_mutable",
                "only results, times and status of a tool block change",
                pointer=f"{pointer}/{name}",
            )
    check_members(value, TOOL_CHANGES, pointer)


def _check_request(value: Json, pointer: str) -> None:
    if not isinstance(value, dict):
        raise _refuse("invalid_member", pointer, "a request, which is an object")
    check_members(value, REQUEST_FIELDS, pointer)


_RECORDS: Final[Mapping[Kind, Callable[[Json, str], Any]]] = MappingProxyType(
    {
        "block": check_block,
        "blocks": _check_blocks,
        "message": check_message,
        "messages": _check_messages,
        "tool_changes": _check_tool_changes,
        "request": _check_request,
    }
)


def check_open_value(value: Json) -> Json:
    """Return ``value`` if it may enter through one of our own doors: keys checked at every depth.

    Raises:
        RemoteProtocolError: ``invalid_key`` with the pointer of the first bad one.
    """
    check_keys(value)
    return value
