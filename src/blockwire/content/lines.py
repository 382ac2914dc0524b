"""The line that makes up nearly all of an upload, read in one step.

Spec: docs/spec/gateway/producers.md, docs/spec/content/json.md. Beside ``codec``, which reads any
event; what is said here is what :func:`~blockwire.content.decode_event` would say of the same line.
"""

from __future__ import annotations

from typing import Final

import msgspec

from blockwire.content.codec import are_plain_names
from blockwire.content.events import BlockDelta
from blockwire.jsontext import SAFE_INTEGER_MAX

__all__ = ["DELTA_LINE_BYTES_MAX", "decode_delta_line"]

DELTA_LINE_BYTES_MAX: Final = 2048
"""Longer lines are left to the strict reader: writing them again costs more than it saves."""

_encode: Final = msgspec.json.Encoder().encode


class _DeltaLine(
    msgspec.Struct,
    tag_field="type",
    tag="content.block.delta",
    forbid_unknown_fields=True,
    gc=False,
):
    """What nearly every line of an upload holds."""

    turn_id: str
    block_id: str
    field: str
    text: str
    producer_seq: int


_decode_line: Final = msgspec.json.Decoder(_DeltaLine).decode


def decode_delta_line(data: bytes, last: BlockDelta | None = None) -> tuple[BlockDelta, int] | None:
    """Return the delta and the ``producer_seq`` of a line that holds nothing else.

    One step instead of reading a tree, checking it and taking it apart. All members are required
    and are strings and one integer, so the one thing that this reader lets pass and the strict one
    refuses is a name that is given twice. That makes the line longer than it need be, as blanks
    and escapes do; so does a line not have the length of what is written for it, nothing is known.

    Args:
        data: One line.
        last: The delta before it, whose names have passed already.

    Returns:
        None when the line is anything else, or anything about it is unusual: the strict reader and
        :func:`decode_event` then say what it is.
    """
    if len(data) > DELTA_LINE_BYTES_MAX:
        return None
    try:
        line = _decode_line(data)
    except msgspec.DecodeError:
        return None
    if len(_encode(line)) != len(data):
        return None
    turn_id, block_id, field = line.turn_id, line.block_id, line.field
    is_known = (
        last is not None
        and block_id == last.block_id
        and turn_id == last.turn_id
        and field == last.field
    )
    if not (is_known or are_plain_names(turn_id, block_id, field)):
        return None
    number = line.producer_seq
    if not 1 <= number <= SAFE_INTEGER_MAX:
        return None
    return BlockDelta(turn_id, block_id, field, line.text), number
