"""Recorded answers: a provider's body, with or without the times at which its pieces came.

Spec: docs/spec/providers.md, "Recordings"; the README beside the recordings.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from blockwire.errors import LocalProtocolError, RemoteProtocolError
from blockwire.jsontext import decode_json
from blockwire.providers.base import PROVIDER_APIS, ProviderApi

__all__ = ["PLAIN_BYTES_PER_S", "Recording", "parse_recording"]

# The pace of a body without times: about thirty small events a second, as most models are.
PLAIN_BYTES_PER_S: Final = 8_000

_TIMED_SUFFIX: Final = ".timed.jsonl"
_EVENT_STREAM_SUFFIX: Final = ".sse"


class Recording(Struct, frozen=True):
    """One recorded response.

    Attributes:
        api: Its wire format.
        chunks: Milliseconds since the request, and the bytes that came then; in order.
    """

    api: ProviderApi
    chunks: tuple[tuple[int, bytes], ...]


def parse_recording(data: bytes, name: str, *, api: ProviderApi | None = None) -> Recording:
    """Return the recording in a file.

    Args:
        data: The whole file.
        name: Its name, which tells the form and, as ``NAME.API.sse``, the wire format.
        api: The wire format, where the name does not tell it.

    Raises:
        LocalProtocolError: ``invalid_recording``; the detail says what is wrong where.
    """
    known_api = api or _api_in(name)
    if known_api is None:
        raise LocalProtocolError(
            "invalid_recording",
            f"{name!r} does not name its API, as in NAME.anthropic.sse; "
            f"there are {', '.join(PROVIDER_APIS)}",
        )
    pieces = _timed(data) if name.endswith(_TIMED_SUFFIX) else _paced(data, name)
    return Recording(known_api, tuple(pieces))


def _api_in(name: str) -> ProviderApi | None:
    words = name.split(".")
    return next((api for api in PROVIDER_APIS if api in words), None)


def _timed(data: bytes) -> Iterator[tuple[int, bytes]]:
    last_ms = 0
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            value = decode_json(line)
        except RemoteProtocolError as error:
            raise _refuse(number, error.detail) from None
        at_ms = value.get("at_ms") if isinstance(value, dict) else None
        piece = value.get("data") if isinstance(value, dict) else None
        if type(at_ms) is not int or at_ms < last_ms or not isinstance(piece, str):
            raise _refuse(number, 'expected {"at_ms": not before the line above, "data": "..."}')
        last_ms = at_ms
        yield at_ms, piece.encode()


def _refuse(line: int, detail: str) -> LocalProtocolError:
    return LocalProtocolError("invalid_recording", f"line {line}: {detail}")


def _paced(data: bytes, name: str) -> Iterator[tuple[int, bytes]]:
    """Yield one event, or one line, at a time."""
    end = 0
    piece = b""
    for line in data.splitlines(keepends=True):
        piece += line
        if name.endswith(_EVENT_STREAM_SUFFIX) and line.strip(b"\r\n"):
            continue
        end += len(piece)
        yield end * 1000 // PLAIN_BYTES_PER_S, piece
        piece = b""
    if piece:
        yield (end + len(piece)) * 1000 // PLAIN_BYTES_PER_S, piece
