"""Where each API is, how it takes a key, and its path for a model. No I/O.

Spec: docs/spec/gateway/engines.md, "Providers".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from blockwire.engines.options import HttpApi
from blockwire.errors import EngineError

__all__ = ["ENDPOINTS", "Endpoint", "ProviderKind", "endpoint_path"]

ProviderKind = Literal["openai", "anthropic", "gemini", "ollama"]

_PATHS: Final[Mapping[HttpApi, str]] = MappingProxyType(
    {
        "openai-chat": "/chat/completions",
        "openai-responses": "/responses",
        "anthropic": "/v1/messages",
        "gemini": "/models/{model}:streamGenerateContent?alt=sse",
        "ollama-chat": "/api/chat",
    }
)
# A model's name reaches a path, and whoever submits a turn may choose it.
_MODEL: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@:-]*(?:/[A-Za-z0-9][A-Za-z0-9._@:-]*)*\Z")


_NO_HEADERS: Final[Mapping[str, str]] = MappingProxyType({})


class Endpoint(NamedTuple):
    """What is known of a provider without any setting.

    Attributes:
        base_url: Where it is.
        url_name: Variable that says otherwise.
        key_name: Variable that holds the key.
        needs_key: Whether its own address refuses to answer without one.
        key_header: Header that carries it.
        key_prefix: What stands before it there.
        headers: Sent with every request.
    """

    base_url: str
    url_name: str
    key_name: str
    needs_key: bool = True
    key_header: str = "authorization"
    key_prefix: str = "Bearer "
    headers: Mapping[str, str] = _NO_HEADERS


ENDPOINTS: Final[Mapping[ProviderKind, Endpoint]] = MappingProxyType(
    {
        "openai": Endpoint(
            base_url="https://api.openai.com/v1",
            url_name="OPENAI_BASE_URL",
            key_name="OPENAI_API_KEY",
        ),
        "anthropic": Endpoint(
            base_url="https://api.anthropic.com",
            url_name="ANTHROPIC_BASE_URL",
            key_name="ANTHROPIC_API_KEY",
            key_header="x-api-key",
            key_prefix="",
            headers=MappingProxyType({"anthropic-version": "2023-06-01"}),
        ),
        "gemini": Endpoint(
            base_url="https://generativelanguage.googleapis.com/v1beta",
            url_name="GEMINI_BASE_URL",
            key_name="GEMINI_API_KEY",
            key_header="x-goog-api-key",
            key_prefix="",
        ),
        "ollama": Endpoint(
            base_url="http://127.0.0.1:11434",
            url_name="OLLAMA_HOST",
            key_name="OLLAMA_API_KEY",
            needs_key=False,
        ),
    }
)


def endpoint_path(api: HttpApi, model: str) -> str:
    """Return the path below the base URL.

    Raises:
        EngineError: ``invalid_option`` for a model's name that a path cannot hold.
    """
    path = _PATHS[api]
    if "{model}" not in path:
        return path
    name = model.removeprefix("models/")
    if _MODEL.match(name) is None:
        raise EngineError("invalid_option", "The name of the model holds what no name may hold.")
    return path.replace("{model}", name)
