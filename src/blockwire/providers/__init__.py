"""Recorded or live provider bytes -> stream events, one module per API; opens no connection.

Spec: docs/spec/providers.md.

Above are the engines, which bring the bytes; below are ``content`` and ``sse``.
"""

from __future__ import annotations

from blockwire.providers.base import PROVIDER_APIS, ProviderApi, ProviderDecoder
from blockwire.providers.factory import decode_stream, make_decoder
from blockwire.providers.failures import ProviderFailure, decode_http_error, failure_of
from blockwire.providers.recording import PLAIN_BYTES_PER_S, Recording, parse_recording

__all__ = [
    "PLAIN_BYTES_PER_S",
    "PROVIDER_APIS",
    "ProviderApi",
    "ProviderDecoder",
    "ProviderFailure",
    "Recording",
    "decode_http_error",
    "decode_stream",
    "failure_of",
    "make_decoder",
    "parse_recording",
]
