"""Engines: one module per way to run a turn, and the guard that makes any stream end well.

Spec: docs/spec/gateway/engines.md. Above is the gateway's wiring; below are ``providers``,
``ports`` and ``content``. An engine never numbers, saves or publishes events.
"""

from __future__ import annotations

from blockwire.engines.failures import ProviderError
from blockwire.engines.guard import guard
from blockwire.engines.keeper import TurnKeeper, TurnLimits, cancelled_events

__all__ = [
    "ProviderError",
    "TurnKeeper",
    "TurnLimits",
    "cancelled_events",
    "guard",
]
