"""From the name of an API to its decoder.

Spec: docs/spec/providers.md, "Decoders".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final

from blockwire.content import IdKind, StreamEvent
from blockwire.providers.answer import Answer
from blockwire.providers.anthropic import AnthropicDecoder
from blockwire.providers.base import ProviderApi, ProviderDecoder
from blockwire.providers.gemini import GeminiDecoder
from blockwire.providers.ollama import OllamaDecoder
from blockwire.providers.openai_chat import OpenAIChatDecoder
from blockwire.providers.openai_responses import OpenAIResponsesDecoder

__all__ = ["decode_stream", "make_decoder"]

_DECODERS: Final[Mapping[ProviderApi, Callable[[Answer], ProviderDecoder]]] = MappingProxyType(
    {
        "openai-chat": OpenAIChatDecoder,
        "openai-responses": OpenAIResponsesDecoder,
        "anthropic": AnthropicDecoder,
        "gemini": GeminiDecoder,
        "ollama-chat": lambda answer: OllamaDecoder(answer, operation="chat"),
        "ollama-generate": lambda answer: OllamaDecoder(answer, operation="generate"),
    }
)


def _keep(text: str) -> str:
    return text


def make_decoder(
    api: ProviderApi,
    *,
    turn_id: str,
    new_id: Callable[[IdKind], str],
    redact: Callable[[str], str] = _keep,
) -> ProviderDecoder:
    """Return a decoder for one response.

    Args:
        api: The wire format.
        turn_id: The turn, which its gateway has started already.
        new_id: Returns a fresh id for a kind (``"block"``).
        redact: Returns a provider's own sentence without credentials.
    """
    return _DECODERS[api](Answer(api, turn_id, new_id=new_id, redact=redact))


def decode_stream(
    api: ProviderApi,
    chunks: Iterable[bytes],
    *,
    turn_id: str,
    new_id: Callable[[IdKind], str],
    redact: Callable[[str], str] = _keep,
) -> Iterator[StreamEvent]:
    """Yield the events of one recorded response; the last is the terminal one.

    Args:
        api: The wire format.
        chunks: The body, cut anyhow.
        turn_id: See :func:`make_decoder`.
        new_id: See :func:`make_decoder`.
        redact: See :func:`make_decoder`.
    """
    decoder = make_decoder(api, turn_id=turn_id, new_id=new_id, redact=redact)
    for chunk in chunks:
        yield from decoder.receive_data(chunk)
    yield from decoder.receive_eof()
