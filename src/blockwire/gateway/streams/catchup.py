"""Rewriting frames on their way out: merged for readers that fell behind, relabelled for several.

Spec: docs/spec/gateway/stream.md; docs/spec/content/merging.md.

The frames are the log's own: ``id``, ``event`` and one ``data`` line of compact JSON, whose line
breaks are escaped, so a blank line ends a frame and nothing else does.
"""

from __future__ import annotations

from typing import Final

from blockwire.content import (
    ENVELOPE_MEMBERS,
    StreamEvent,
    decode_event,
    event_members,
    event_type,
    merge_deltas,
)
from blockwire.jsontext import decode_json, encode_json
from blockwire.sse import encode_sse

__all__ = ["merge_frames", "relabel_frames"]

_END: Final = b"\n\n"
_ID: Final = b"id: "
_DELTA: Final = b"\nevent: content.block.delta\ndata: "


def merge_frames(frames: bytes) -> bytes:
    """Return ``frames`` of one view with neighbouring deltas of a block merged.

    Everything else stays byte for byte. Takes linear time.
    """
    merged: list[bytes] = []
    run: list[bytes] = []
    for frame in frames.split(_END)[:-1]:
        if _DELTA in frame:
            run.append(frame)
            continue
        merged += _merge_run(run)
        merged.append(frame + _END)
        run = []
    merged += _merge_run(run)
    return b"".join(merged)


def _merge_run(run: list[bytes]) -> list[bytes]:
    if len(run) < 2:
        return [frame + _END for frame in run]
    events = [decode_event(decode_json(frame.partition(_DELTA)[2])) for frame in run]
    return [_frame(event) for event in merge_deltas(events)]


def _frame(event: StreamEvent) -> bytes:
    members = event_members(event)
    for name in ENVELOPE_MEMBERS:
        # Last, and also where it is 0, as the log writes it.
        members.pop(name, None)
        members[name] = getattr(event, name)
    return encode_sse(encode_json(members), event=event_type(event), id=str(event.seq))


def relabel_frames(frames: bytes, before: bytes, after: bytes) -> bytes:
    """Return ``frames`` with ``before`` and ``after`` around each ``id``; those without stay."""
    relabelled: list[bytes] = []
    for frame in frames.split(_END)[:-1]:
        if frame.startswith(_ID):
            number, _, rest = frame[len(_ID) :].partition(b"\n")
            relabelled.append(b"%b%b%b%b\n%b\n\n" % (_ID, before, number, after, rest))
        else:
            relabelled.append(frame + _END)
    return b"".join(relabelled)
