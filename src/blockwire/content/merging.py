"""Merging neighbouring deltas, for storage, replay and slow readers.

Spec: docs/spec/content/merging.md.

Only deltas of one block with no other event between them are merged: in the log, no other event of
any kind; in what one view gets, none that this view gets. So the caller passes the log, or one
view's events, and the rule is the same. A merged delta stands for the range from its ``prev_seq``
(exclusive) to its ``seq``; which text came with which number is kept beside it, in the store and
never on the wire, so that a reader whose cursor lies inside gets only what it lacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from blockwire.content.events import BlockDelta, StreamEvent
from blockwire.errors import LocalProtocolError

__all__ = ["MergePairs", "Merged", "cut_merged", "merge_deltas", "merge_entries"]

MergePairs: TypeAlias = tuple[tuple[int, int], ...]
"""The ``seq`` and the length in Unicode scalar values of each delta that was merged, in order."""


class Merged(NamedTuple):
    """An event, and the deltas that it stands for; no pairs where it stands for itself only."""

    event: StreamEvent
    pairs: MergePairs = ()


def merge_deltas(
    events: Iterable[StreamEvent], *, chars_max: int | None = None
) -> list[StreamEvent]:
    """Return ``events`` with each run of neighbouring deltas of one block as one delta.

    See :func:`merge_entries`, which also returns what each delta stands for.
    """
    return [entry.event for entry in merge_entries(map(Merged, events), chars_max=chars_max)]


def merge_entries(entries: Iterable[Merged], *, chars_max: int | None = None) -> list[Merged]:
    """Return ``entries`` with each run of neighbouring deltas of one block as one delta.

    A merged delta has the last one's ``seq`` and ``ts`` and the first one's ``prev_seq``. What was
    merged before is merged again without loss. Deltas with members that this version does not know
    stay alone, and so do deltas between which a number is missing. Takes linear time.

    Args:
        entries: A stretch of the log, or of what one view gets of it, in order; or events without
            numbers, as an engine makes them.
        chars_max: Unicode scalar values that one merged delta holds at most; a single delta that
            is longer stays as it is.
    """
    merged: list[Merged] = []
    run: list[Merged] = []
    run_chars = 0
    for entry in entries:
        event = entry.event
        if type(event) is not BlockDelta:
            merged += _join(run)
            merged.append(entry)
            run = []
            continue
        chars = run_chars + len(event.text)
        if run and _follows(run[-1].event, event) and (chars_max is None or chars <= chars_max):
            run.append(entry)
            run_chars = chars
        else:
            merged += _join(run)
            run = [entry]
            run_chars = len(event.text)
    merged += _join(run)
    return merged


def _follows(event: StreamEvent, other: BlockDelta) -> bool:
    """Return whether ``other`` continues ``event`` with nothing between them."""
    return (
        type(event) is BlockDelta
        and other.block_id == event.block_id
        and other.turn_id == event.turn_id
        and other.field == event.field
        and other.prev_seq == event.seq
        and (other.seq > event.seq or other.seq == event.seq == 0)
        and other.conversation_id == event.conversation_id
        and event.extra is None
        and other.extra is None
    )


def _join(run: Sequence[Merged]) -> Sequence[Merged]:
    if len(run) < 2:
        return run
    first, last = run[0].event, run[-1].event
    deltas = [event for entry in run if isinstance(event := entry.event, BlockDelta)]
    pairs: list[tuple[int, int]] = []
    for entry, delta in zip(run, deltas, strict=True):
        pairs += entry.pairs or ((delta.seq, len(delta.text)),)
    text = "".join(delta.text for delta in deltas)
    event = replace(last, text=text, prev_seq=first.prev_seq)
    return [Merged(event, tuple(pairs) if event.seq else ())]


def cut_merged(event: BlockDelta, pairs: MergePairs | None, cursor: int) -> BlockDelta | None:
    """Return what of ``event`` a reader with this cursor lacks, or None when it has it all.

    A cursor inside the range of ``event`` gets the text after it, as the delta
    ``{prev_seq: cursor, seq: event.seq}``.

    Args:
        event: A delta of the log, merged or not.
        pairs: What it stands for; none (empty) for a delta that was never merged, None for a merged
            one whose pairs are gone.
        cursor: The number of the last event that the reader has.

    Raises:
        LocalProtocolError: ``cursor_inside_delta`` when the cursor lies inside and the pairs are
            gone or do not fit: the reader needs a snapshot.
    """
    if cursor >= event.seq:
        return None
    if cursor <= event.prev_seq:
        return event
    if pairs is None or (pairs and sum(chars for _seq, chars in pairs) != len(event.text)):
        raise LocalProtocolError(
            "cursor_inside_delta", "which text came with which number is not known any more"
        )
    before = sum(chars for seq, chars in pairs if seq <= cursor)
    return replace(event, text=event.text[before:], prev_seq=cursor)
