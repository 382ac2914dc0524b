"""Tells a person that the gateway is out of reach, but not at every hiccup."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from blockwire.cli.output import note
from blockwire.client import ConnectionChange

__all__ = ["outage_notes"]

PATIENCE_S: Final = 5.0
"""An outage shorter than this is nobody's business."""


def outage_notes(now_s: Callable[[], float]) -> Callable[[ConnectionChange], None]:
    """Return a listener that says on standard error when an outage lasts, and when it is over."""
    since: float | None = None
    is_told = False

    def on_connection(change: ConnectionChange) -> None:
        nonlocal since, is_told
        if change.status == "connected":
            if is_told:
                note("connected again")
            since, is_told = None, False
        elif change.status == "waiting":
            since = now_s() if since is None else since
            if not is_told and now_s() - since + change.retry_in_s > PATIENCE_S:
                is_told = True
                note("the gateway is out of reach; trying until it is back (Ctrl-C stops)")

    return on_connection
