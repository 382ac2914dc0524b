"""Event-stream bytes both ways; knows nothing of what is inside ``data:``.

Spec: WHATWG HTML, "Server-sent events"; docs/spec/sse.md.

Below is :mod:`blockwire.errors`; the gateway writes with it, the client and the providers read.
"""

from blockwire.sse.decoder import (
    EVENT_BYTES_MAX,
    RETRY_DIGITS_MAX,
    SseDecoder,
    SseEvent,
    SseEventTooLarge,
    SseItem,
)
from blockwire.sse.encoder import encode_comment, encode_retry, encode_sse

__all__ = [
    "EVENT_BYTES_MAX",
    "RETRY_DIGITS_MAX",
    "SseDecoder",
    "SseEvent",
    "SseEventTooLarge",
    "SseItem",
    "encode_comment",
    "encode_retry",
    "encode_sse",
]
