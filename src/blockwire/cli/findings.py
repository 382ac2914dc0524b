"""What ``doctor`` says of one thing that it looked at."""

from __future__ import annotations

from typing import Literal, NamedTuple

__all__ = ["Finding", "Verdict"]

Verdict = Literal["ok", "warning", "problem"]


class Finding(NamedTuple):
    """One thing that was looked at, and what to do about it."""

    verdict: Verdict
    what: str
    detail: str
