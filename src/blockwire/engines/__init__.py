"""Engines: one module per way to run a turn, and the guard that makes any stream end well.

Spec: docs/spec/gateway/engines.md. Above is the gateway's wiring; below are ``providers``,
``ports`` and ``content``. An engine never numbers, saves or publishes events.
"""

from __future__ import annotations

from blockwire.engines.command import CommandEngine, CommandSettings, child_environment
from blockwire.engines.external import ExternalEngine
from blockwire.engines.failures import ProviderError
from blockwire.engines.guard import guard
from blockwire.engines.keeper import TurnKeeper, TurnLimits
from blockwire.engines.registry import engine_provider, engine_secrets, make_engine
from blockwire.engines.replay import ReplayEngine, ReplaySettings, load_recordings
from blockwire.engines.request import encode_request, engine_request_schema
from blockwire.engines.settings import SETTINGS, EngineConfig, EngineKind, Setting, check_config

__all__ = [
    "SETTINGS",
    "CommandEngine",
    "CommandSettings",
    "EngineConfig",
    "EngineKind",
    "ExternalEngine",
    "ProviderError",
    "ReplayEngine",
    "ReplaySettings",
    "Setting",
    "TurnKeeper",
    "TurnLimits",
    "check_config",
    "child_environment",
    "encode_request",
    "engine_provider",
    "engine_request_schema",
    "engine_secrets",
    "guard",
    "load_recordings",
    "make_engine",
]
