"""What a benchmark says: one figure of ours beside that of a peer, and what was to be reached."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, Literal

from msgspec import Struct

__all__ = ["Figure", "Verdict", "render_table"]

Verdict = Literal["reached", "missed", "no peer"]

_HEADS: Final = ("what", "ours", "peer", "ratio", "reach", "verdict")


class Figure(Struct, frozen=True, kw_only=True):
    """One row of the table.

    Attributes:
        what: What was measured.
        ours: Our figure.
        unit: Of both figures.
        peer: The figure of the peer in the same run, or the limit; None when the peer is missing.
        peer_name: Who that is.
        reach: What the ratio ``ours / peer`` is to be: at most this, or at least where more is
            better.
        more_is_better: Whether it is a rate.
        note: What else one should know.
    """

    what: str
    ours: float
    unit: str
    peer: float | None
    peer_name: str
    reach: float
    more_is_better: bool = False
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours by the peer's."""
        return None if self.peer is None else self.ours / self.peer

    @property
    def verdict(self) -> Verdict:
        """Whether the ratio is what it is to be."""
        ratio = self.ratio
        if ratio is None:
            return "no peer"
        is_reached = ratio >= self.reach if self.more_is_better else ratio <= self.reach
        return "reached" if is_reached else "missed"

    @property
    def cells(self) -> tuple[str, ...]:
        """The row as text."""
        sign = ">=" if self.more_is_better else "<="
        peer = "-" if self.peer is None else f"{number(self.peer)} ({self.peer_name})"
        ratio = "-" if self.ratio is None else number(self.ratio)
        reach = f"{sign} {self.reach:g}"
        return (self.what, f"{number(self.ours)} {self.unit}", peer, ratio, reach, self.verdict)


def number(value: float) -> str:
    """Return ``value`` with three digits that matter."""
    if value >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def render_table(figures: Sequence[Figure]) -> str:
    """Return the figures as a Markdown table whose columns line up."""
    rows = [_HEADS, *(figure.cells for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADS))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |"
        for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    notes = [f"{figure.what}: {figure.note}" for figure in figures if figure.note]
    return "\n".join([*lines, *([""] if notes else []), *notes])
