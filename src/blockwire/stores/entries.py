"""Numbering and framing: the one place where a draft becomes an entry of the log.

Spec: docs/spec/content/events.md, "Numbers"; docs/spec/gateway/stream.md.

``conversation_id``, ``seq``, ``prev_seq`` and ``ts`` are spliced in before the closing brace, last,
so nothing in a payload can override them. ``prev_seq`` is per view: that of the event before it
that this view gets. Stores keep the frames as they go over the wire; a replay parses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

from blockwire.content import ENVELOPE_MEMBERS
from blockwire.errors import LocalProtocolError
from blockwire.jsontext import ENVELOPED_DEPTH_MAX, decode_json, encode_json
from blockwire.ports import Draft, Entry
from blockwire.sse import encode_sse

__all__ = [
    "STORED_DEPTH_MAX",
    "first_frames",
    "first_number",
    "frame_count",
    "frame_ts",
    "frames_after",
    "frames_up_to",
    "last_number",
    "split_frames",
    "stamp",
    "stamp_all",
]

# Levels of nesting that are read back from a store. The doors allow 64 for a value of their own;
# an event holds a message, which holds blocks, so what is stored may be some levels deeper.
STORED_DEPTH_MAX: Final = ENVELOPED_DEPTH_MAX

# Encoded conversation ids and event types that are kept; each is below 1 KiB.
_CACHED_COUNT_MAX: Final = 4096

_EMPTY_DATA: Final = b"data: \n\n"
_FRAME_END: Final = b"\n\n"
_FRAME_START: Final = b"id: "
_FORMAT: Final = b'id: %d\n%bdata: %b,"conversation_id":%b,"seq":%d,"prev_seq":%d,"ts":%d}\n\n'
_START: Final = b'{"'
_TS: Final = b',"ts":'
_BRACE: Final = 0x7D
_LF: Final = 0x0A
_CR: Final = 0x0D
_STAMPED: Final = tuple(b'"%b":' % name.encode() for name in ENVELOPE_MEMBERS)
# Ends of their names, so that three searches are enough to know that none is there.
_S, _T, _C = b'seq":', b'"ts":', b'conversation_id":'
assert all(any(end in name for end in (_S, _T, _C)) for name in _STAMPED), "each is looked for"


def stamp(  # noqa: PLR0913, PLR0917 - these are the numbers of an event
    draft: Draft, conversation_id: str, seq: int, prev_seq: int, prev_public_seq: int, ts: int
) -> Entry:
    """Return ``draft`` as the entry ``seq`` of the log.

    Args:
        draft: What the gateway made of an event.
        conversation_id: Where it goes.
        seq: Its number.
        prev_seq: ``seq`` of the event before it; 0 at the start.
        prev_public_seq: ``seq`` of the last event before it that public views get; 0 for none.
        ts: Unix milliseconds.

    Raises:
        LocalProtocolError: ``invalid_draft`` if the draft is no compact JSON object with a member;
            ``invalid_sse_field`` if its type cannot stand in an ``event:`` line.
        RemoteProtocolError: As of :func:`~blockwire.jsontext.decode_json`, for a draft that seems
            to hold a stamped member and is no JSON.
    """
    # Written out, because this runs once an event: a call costs a tenth of it.
    owner = draft.owner
    if _S in owner or _T in owner or _C in owner or _LF in owner or _CR in owner:
        owner = _stampable(owner)
    if owner[:2] != _START or owner[-1] != _BRACE:
        raise LocalProtocolError("invalid_draft", "a draft is a compact object with a member")
    line = _event_line(draft.type)
    member = _conversation_member(conversation_id)
    frame = _FORMAT % (seq, line, owner[:-1], member, seq, prev_seq, ts)
    public = draft.public
    if public is None:
        return Entry(seq, draft.type, frame, None)
    if public is draft.owner:
        if prev_public_seq == prev_seq:
            return Entry(seq, draft.type, frame, frame)
        public = owner
    else:
        public = _stampable(public)
        if public[:2] != _START or public[-1] != _BRACE:
            raise LocalProtocolError("invalid_draft", "a draft is a compact object with a member")
    public_frame = _FORMAT % (seq, line, public[:-1], member, seq, prev_public_seq, ts)
    return Entry(seq, draft.type, frame, public_frame)


def stamp_all(
    drafts: Sequence[Draft], conversation_id: str, *, head_seq: int, public_head_seq: int, ts: int
) -> list[Entry]:
    """Return ``drafts`` as the entries that follow ``head_seq``, in order.

    Raises:
        LocalProtocolError: As of :func:`stamp`.
        RemoteProtocolError: As of :func:`stamp`.
    """
    entries: list[Entry] = []
    ending = b',"ts":%d}\n\n' % ts
    for draft in drafts:
        seq = head_seq + 1
        if draft.is_plain and public_head_seq == head_seq and draft.public is draft.owner:
            # Nearly all events of nearly all logs: nothing to look for, and both views the same.
            member, line = _conversation_member(conversation_id), _event_line(draft.type)
            number = b"%d" % seq
            frame = b"".join(
                (b"id: ", number, b"\n", line, b"data: ", draft.owner[:-1], b',"conversation_id":',
                 member, b',"seq":', number, b',"prev_seq":%d' % head_seq, ending)
            )  # fmt: skip
            entries.append(Entry(seq, draft.type, frame, frame))
            head_seq = public_head_seq = seq
            continue
        entry = stamp(draft, conversation_id, seq, head_seq, public_head_seq, ts)
        entries.append(entry)
        head_seq = seq
        if entry.public_frame is not None:
            public_head_seq = seq
    return entries


@lru_cache(_CACHED_COUNT_MAX)
def _conversation_member(conversation_id: str) -> bytes:
    return encode_json(conversation_id)


@lru_cache(_CACHED_COUNT_MAX)
def _event_line(event_type: str) -> bytes:
    return encode_sse(b"", event=event_type)[: -len(_EMPTY_DATA)]


def _stampable(data: bytes) -> bytes:
    """Return the draft's object without stamped members, fit for a frame."""
    # Inside a string a quotation mark is escaped, so these are names, of the event or deeper.
    if any(name in data for name in _STAMPED):
        value = decode_json(data, depth_max=STORED_DEPTH_MAX)
        if isinstance(value, dict) and any(name in value for name in ENVELOPE_MEMBERS):
            data = encode_json({k: v for k, v in value.items() if k not in ENVELOPE_MEMBERS})
    if _LF in data or _CR in data:
        # Legal JSON white space that our encoder never writes: it must not break the framing.
        data = encode_sse(data)[len(b"data: ") : -len(_FRAME_END)]
    return data


# Joined frames -------------------------------------------------------------------------------
# A frame starts with its id, ends with a blank line and holds no other: there is no line break
# inside JSON text, and encode_sse puts "data: " after each one that white space brings along.


def frame_count(frames: bytes) -> int:
    """Return how many frames are joined in ``frames``."""
    return frames.count(_FRAME_END)


def split_frames(frames: bytes) -> Iterator[bytes]:
    """Yield the joined frames one by one; a torn one at the end comes as it is."""
    start = 0
    while start < len(frames):
        end = frames.find(_FRAME_END, start)
        end = len(frames) if end < 0 else end + len(_FRAME_END)
        yield frames[start:end]
        start = end


def frames_after(frames: bytes, seq: int) -> bytes:
    """Return the joined frames whose number is above ``seq``."""
    return frames[_start_above(frames, seq) :]


def frames_up_to(frames: bytes, seq: int) -> bytes:
    """Return the joined frames whose number is not above ``seq``."""
    return frames[: _start_above(frames, seq)]


def first_frames(frames: bytes, bytes_max: int, *, at_least_one: bool) -> bytes:
    """Return the first joined frames, whole ones, of at most ``bytes_max`` bytes.

    With ``at_least_one`` the first frame comes also when it is larger.
    """
    end = frames.rfind(_FRAME_END, 0, max(bytes_max, 0))
    if end < 0:
        if not at_least_one or not frames:
            return b""
        end = frames.index(_FRAME_END)
    return frames[: end + len(_FRAME_END)]


def last_number(frames: bytes) -> int:
    """Return the number of the last of the joined frames; there is at least one."""
    before = frames.rfind(_FRAME_END, 0, len(frames) - len(_FRAME_END))
    return _seq_at(frames, 0 if before < 0 else before + len(_FRAME_END))


def first_number(frames: bytes) -> int | None:
    """Return the number of the first of the joined frames; None where none can be read."""
    end = frames.find(b"\n")
    digits = frames[len(_FRAME_START) : end]
    if end < 0 or not frames.startswith(_FRAME_START) or not digits.isdigit():
        return None
    return int(digits)


def frame_ts(frame: bytes) -> int | None:
    """Return the stamp at the end of a frame, Unix milliseconds; None where none can be read."""
    digits = frame[frame.rfind(_TS) + len(_TS) : -len(b"}\n\n")]
    return int(digits) if digits.isdigit() else None


def _start_above(frames: bytes, seq: int) -> int:
    """Return where the first frame with a number above ``seq`` starts."""
    if not frames or _seq_at(frames, 0) > seq:
        return 0
    # Numbers have gaps in the public view only, so the next number is nearly always there.
    following = frames.find(b"\n\nid: %d\n" % (seq + 1))
    if following >= 0:
        return following + len(_FRAME_END)
    start = 0
    while start < len(frames) and _seq_at(frames, start) <= seq:
        start = frames.index(_FRAME_END, start) + len(_FRAME_END)
    return start


def _seq_at(frames: bytes, start: int) -> int:
    return int(frames[start + len(_FRAME_START) : frames.index(b"\n", start)])
