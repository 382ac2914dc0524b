"""The gateway: conversations, turns, their events, and how they are asked for over HTTP.

Spec: docs/spec/gateway/. Above is ``cli``, which picks store, bus and engines.
"""

from __future__ import annotations

from blockwire.gateway.access.auth import Auth, Token, TokenFile, hash_token, load_token_file
from blockwire.gateway.access.limits import HttpSettings
from blockwire.gateway.http.app import GatewayApp, create_app
from blockwire.gateway.http.server import serve
from blockwire.gateway.service import GatewayService, SubmitResult
from blockwire.gateway.settings import EXTERNAL_ENGINE, EngineProfile, GatewaySettings

__all__ = [
    "EXTERNAL_ENGINE",
    "Auth",
    "EngineProfile",
    "GatewayApp",
    "GatewayService",
    "GatewaySettings",
    "HttpSettings",
    "SubmitResult",
    "Token",
    "TokenFile",
    "create_app",
    "hash_token",
    "load_token_file",
    "serve",
]
