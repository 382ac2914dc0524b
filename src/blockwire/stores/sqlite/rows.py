"""Rows of the tables to structs of the port and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, cast

from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import decode_json, encode_json
from blockwire.ports import ConversationRow, MessageRow, TurnRow
from blockwire.stores.entries import STORED_DEPTH_MAX
from blockwire.stores.sqlite.errors import damaged

__all__ = [
    "conversation_from_row",
    "conversation_parameters",
    "decode_totals",
    "message_from_row",
    "turn_from_row",
    "turn_parameters",
]

_CONVERSATION_COLUMNS: Final = (
    "id",
    "created_at",
    "updated_at",
    "head_seq",
    "public_head_seq",
    "title",
    "tags",
    "tenant",
    "system",
    "metadata",
    "auto_title",
    "totals",
)
_TURN_COLUMNS: Final = TurnRow.__struct_fields__
_TURN_JSON: Final = ("usage", "error", "request", "options", "cost")
_TURN_JSON_INDEXES: Final = tuple(_TURN_COLUMNS.index(name) for name in _TURN_JSON)


def conversation_parameters(row: ConversationRow) -> dict[str, Any]:
    """Return ``row`` as parameters of a statement."""
    return {
        "id": row.id,
        "created_at": row.created_at,
        "updated_at": row.updated_at,
        "title": row.title,
        "tags": encode_json(list(row.tags)).decode(),
        "tenant": row.tenant,
        "system": row.system,
        "metadata": None if row.metadata is None else encode_json(row.metadata).decode(),
        "auto_title": row.auto_title,
        "totals": encode_json({**row.totals}).decode(),
    }


def conversation_from_row(row: Sequence[Any]) -> ConversationRow:
    """Return the conversation that a row of ``load_conversation`` spells."""
    members = dict(zip(_CONVERSATION_COLUMNS, row, strict=True))
    members["tags"] = tuple(_decode(members["tags"]))
    members["metadata"] = _decode(members["metadata"])
    members["totals"] = _decode(members["totals"])
    return ConversationRow(**members)


def decode_totals(text: str) -> dict[str, int]:
    """Return the totals of a conversation that a column spells."""
    return cast("dict[str, int]", _decode(text))


def turn_parameters(turn: TurnRow, conversation_no: int) -> dict[str, Any]:
    """Return ``turn`` as parameters of a statement."""
    parameters: dict[str, Any] = {name: getattr(turn, name) for name in _TURN_COLUMNS}
    for name in _TURN_JSON:
        value = parameters[name]
        parameters[name] = None if value is None else encode_json(value).decode()
    parameters["conversation_no"] = conversation_no
    return parameters


def turn_from_row(row: Sequence[Any]) -> TurnRow:
    """Return the turn that a row of ``load_turn`` spells; later columns are ignored."""
    values = list(row[: len(_TURN_COLUMNS)])
    for index in _TURN_JSON_INDEXES:
        values[index] = _decode(values[index])
    return TurnRow(**dict(zip(_TURN_COLUMNS, values, strict=True)))


def message_from_row(row: Sequence[Any]) -> MessageRow:
    """Return the message that a row of ``load_message`` spells."""
    data, created_seq, finished_seq = row
    message = _decode(data)
    if not isinstance(message, dict):
        raise damaged()
    return MessageRow(message, created_seq, finished_seq)


def _decode(text: str | bytes | None) -> Any:
    if text is None:
        return None
    data = text.encode() if isinstance(text, str) else text
    try:
        return decode_json(data, depth_max=STORED_DEPTH_MAX)
    except RemoteProtocolError as error:
        # The detail names a place and never quotes.
        raise damaged() from error
