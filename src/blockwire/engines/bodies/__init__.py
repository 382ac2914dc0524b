"""Request bodies, one module per API: a transcript and options in, a JSON object out. No I/O.

Spec: docs/spec/gateway/engines.md, "What a provider is told".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from blockwire.engines.bodies.anthropic import anthropic_body
from blockwire.engines.bodies.gemini import gemini_body
from blockwire.engines.bodies.ollama import ollama_body
from blockwire.engines.bodies.openai_chat import openai_chat_body
from blockwire.engines.bodies.openai_responses import openai_responses_body
from blockwire.engines.options import HttpApi
from blockwire.engines.transcript import Transcript
from blockwire.jsontext import Json

__all__ = ["BODIES", "BodyBuilder"]

BodyBuilder: TypeAlias = Callable[[Transcript, str, Mapping[str, Json]], dict[str, Json]]
"""Transcript, model and the turn's options in; raises EngineError ``invalid_option``."""

BODIES: Final[Mapping[HttpApi, BodyBuilder]] = MappingProxyType(
    {
        "openai-chat": openai_chat_body,
        "openai-responses": openai_responses_body,
        "anthropic": anthropic_body,
        "gemini": gemini_body,
        "ollama-chat": ollama_body,
    }
)
