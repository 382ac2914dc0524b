"""A row of the log as the spans that it holds.

Spec: docs/spec/gateway/persistence.md, "The log".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from blockwire.stores.entries import first_number, split_frames
from blockwire.stores.spans import Run, Span

__all__ = ["WindowRow", "read_row_spans"]


class WindowRow(NamedTuple):
    """A row as ``read_log_window`` gives it."""

    last_seq: int
    first_seq: int
    public_seq: int
    ts: int
    is_merged: int
    owner: bytes
    public: bytes | None

    @property
    def size_bytes(self) -> int:
        """Bytes of its frames."""
        return len(self.owner) + len(self.public or b"")


def read_row_spans(row: WindowRow, runs: Mapping[int, Run]) -> list[Span] | None:
    """Return what the row holds; None where frames and numbers do not fit.

    Args:
        row: Of the log.
        runs: The merged deltas that it may hold, by number.
    """
    owners = _by_number(row.owner)
    if owners is None or (not row.is_merged and len(owners) != row.last_seq - row.first_seq + 1):
        return None
    publics = owners if row.public is None else _by_number(row.public)
    if publics is None or not publics.keys() <= owners.keys():
        return None
    spans: list[Span] = []
    first_seq = row.first_seq
    for seq, owner in owners.items():
        run = runs.get(seq) if row.is_merged else None
        if (run.first_seq if run is not None else seq) != first_seq:
            return None
        lengths = None if run is None else run.lengths
        spans.append(Span(first_seq, seq, owner, publics.get(seq), lengths))
        first_seq = seq + 1
    return spans if first_seq == row.last_seq + 1 else None


def _by_number(frames: bytes) -> dict[int, bytes] | None:
    found: dict[int, bytes] = {}
    last = 0
    for frame in split_frames(frames):
        number = first_number(frame)
        if number is None or number <= last:
            return None
        found[number] = frame
        last = number
    return found
