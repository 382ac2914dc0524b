"""Engines over HTTP: a provider's stream, from its bytes to events.

Spec: docs/spec/gateway/engines.md, "Providers". Below are ``bodies`` (what is asked), ``refusals``
(what no answer means) and the decoders in ``providers``.

A failed call is repeated only while nobody has seen anything of its answer. After the first
visible block a cut is told as a cut, and what had arrived is kept.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import aclosing, contextmanager, suppress
from typing import Final, cast
from urllib.parse import urlsplit

import anyio
import httpx
from msgspec import Struct

import blockwire
from blockwire.content import BlockStarted, StreamEvent, TurnEnded
from blockwire.content.vocabulary import EXPLAINING_TYPES
from blockwire.engines.bodies import BODIES
from blockwire.engines.endpoints import endpoint_path
from blockwire.engines.failures import ProviderError
from blockwire.engines.images import load_images
from blockwire.engines.options import HttpApi
from blockwire.engines.refusals import (
    REFUSAL_BYTES_MAX,
    delay_s,
    is_worth_another_try,
    refusal_of,
)
from blockwire.engines.transcript import read_transcript
from blockwire.errors import EngineError
from blockwire.jsontext import Json, encode_json
from blockwire.ports import Clock, EngineRequest, IdFactory
from blockwire.providers import ProviderDecoder, make_decoder

__all__ = ["HttpEngine", "HttpSettings"]

POOL_CONNECTIONS_MAX: Final = 100
POOL_IDLE_MAX: Final = 20
DRAIN_S: Final = 0.2

_LOOPBACK: Final[frozenset[str | None]] = frozenset({"localhost", "127.0.0.1", "::1"})


class HttpSettings(Struct, frozen=True, kw_only=True):
    """Where and how to ask.

    Attributes:
        api: Wire format.
        provider: Name of the provider, as messages carry it.
        base_url: Without the last part of the path.
        headers: Of every request, credentials among them.
        key_hint: What to do when no key is configured; None when there is one, or none is needed.
        model: For turns that name none.
        options: For turns that do not say otherwise.
        sends_images: Whether the models take pictures.
        connect_timeout_s: Until a connection stands.
        idle_timeout_s: Between two pieces of the answer.
        tries_max: Calls of one turn, the first included.
    """

    api: HttpApi
    provider: str
    base_url: str
    headers: Mapping[str, str]
    key_hint: str | None = None
    model: str | None = None
    options: Mapping[str, Json]
    sends_images: bool = True
    connect_timeout_s: float = 10.0
    idle_timeout_s: float = 120.0
    tries_max: int = 3


class HttpEngine:
    """Asks one provider.

    Args:
        settings: Which, and how.
        ids: Makes the ids of blocks.
        clock: For a ``Retry-After`` that names a date.
        redact: Returns a text without credentials.
        sleep: Waits for so many seconds.
        jitter: Returns a number from 0 to 1.
    """

    def __init__(  # noqa: PLR0913 - the ports of one engine
        self,
        settings: HttpSettings,
        *,
        ids: IdFactory,
        clock: Clock,
        redact: Callable[[str], str],
        jitter: Callable[[], float],
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._settings = settings
        self._ids = ids
        self._clock = clock
        self._redact = redact
        self._jitter = jitter
        self._sleep = sleep
        self._client: httpx.AsyncClient | None = None

    async def run(self, request: EngineRequest) -> AsyncGenerator[StreamEvent, None]:
        """Yield the events of the answer; try again while nothing of it was yielded.

        Raises:
            EngineError: ``provider_*``, ``engine_idle``, ``engine_unavailable`` (not configured),
                ``invalid_option``.
        """
        path, body = await self._prepare(request)
        failed = 0
        while True:
            is_shown = False
            try:
                async with aclosing(self._ask(request, path, body)) as events:
                    async for event in events:
                        is_shown = True
                        yield event
            except ProviderError as error:
                failed += 1
                is_last = is_shown or failed >= self._settings.tries_max
                if is_last or not is_worth_another_try(error):
                    raise
                await self._sleep(delay_s(error, failed, self._jitter()))
            else:
                return

    async def _prepare(self, request: EngineRequest) -> tuple[str, bytes]:
        settings = self._settings
        if settings.key_hint is not None:
            raise EngineError("provider_auth_failed", settings.key_hint)
        model = request.model or settings.model
        if model is None:
            raise EngineError(
                "engine_unavailable",
                "No model is named: set `model` for the engine, or name one with the turn.",
            )
        images = await load_images(request) if settings.sends_images else {}
        transcript = read_transcript(
            request, api=settings.api, provider=settings.provider, images=images
        )
        options = {**settings.options, **request.options}
        body = BODIES[settings.api](transcript, model, options)
        return endpoint_path(settings.api, model), encode_json(body)

    async def _ask(
        self, request: EngineRequest, path: str, body: bytes
    ) -> AsyncGenerator[StreamEvent, None]:
        """Yield the events of one call.

        Raises:
            ProviderError: It failed; a failure that is worth another try and came before the
                first visible block is raised, never yielded.
        """
        settings = self._settings
        decoder = make_decoder(
            settings.api, turn_id=request.turn_id, new_id=self._ids.new_id, redact=self._redact
        )
        opening = _Opening()
        url = settings.base_url.rstrip("/") + path
        with _map_errors(decoder, opening):
            async with self._open_client().stream("POST", url, content=body) as response:
                await self._check(response)
                pieces = response.aiter_bytes()
                try:
                    async for data in pieces:
                        for event in opening.receive(decoder.receive_data(data)):
                            yield event
                        if decoder.is_over:
                            return
                finally:
                    if decoder.is_over:
                        await _drain(pieces)
        for event in opening.receive(decoder.receive_eof()):
            yield event

    def _open_client(self) -> httpx.AsyncClient:
        if self._client is None:
            settings = self._settings
            timeout = httpx.Timeout(settings.idle_timeout_s, connect=settings.connect_timeout_s)
            limits = httpx.Limits(
                max_connections=POOL_CONNECTIONS_MAX, max_keepalive_connections=POOL_IDLE_MAX
            )
            self._client = httpx.AsyncClient(
                timeout=timeout,
                limits=limits,
                follow_redirects=False,
                # A proxy of the environment would not reach what runs on this machine.
                trust_env=urlsplit(settings.base_url).hostname not in _LOOPBACK,
                headers={
                    "content-type": "application/json",
                    "user-agent": f"blockwire/{blockwire.__version__}",
                    # Compression would hold back the small pieces that a stream is made of.
                    "accept-encoding": "identity",
                    **settings.headers,
                },
            )
        return self._client

    async def _check(self, response: httpx.Response) -> None:
        """Raise ProviderError unless the response may be an answer."""
        content_type = response.headers.get("content-type", "")
        if response.is_success and content_type.startswith("text/html"):
            raise ProviderError(
                "provider_protocol_error",
                "The provider answered with a web page; correct `base_url`.",
            )
        if response.is_success:
            return
        body = bytearray()
        async for data in response.aiter_bytes():
            body += data
            if len(body) >= REFUSAL_BYTES_MAX:
                break
        headers = {name.lower(): value for name, value in response.headers.items()}
        raise refusal_of(
            response.status_code,
            headers,
            bytes(body[:REFUSAL_BYTES_MAX]),
            now_ms=self._clock.now_ms(),
            redact=self._redact,
        )

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()
            self._client = None


class _Opening:
    """Holds back what comes before the first visible block: until then nobody need know of it."""

    def __init__(self) -> None:
        self._held: list[StreamEvent] = []
        self.is_shown = False

    def receive(self, events: list[StreamEvent]) -> list[StreamEvent]:
        """Return the events that may be shown.

        Raises:
            ProviderError: The answer failed before anything of it was shown, and may be asked for
                again.
        """
        if self.is_shown:
            return events
        self._held += events
        if any(_is_visible(event) for event in self._held):
            return self._release()
        if self._held and isinstance(self._held[-1], TurnEnded):
            self._raise_if_retryable(self._held[-1])
            return self._release()
        return []

    def _release(self) -> list[StreamEvent]:
        self.is_shown = True
        held, self._held = self._held, []
        return held

    def _raise_if_retryable(self, end: TurnEnded) -> None:
        errors = [
            event.block
            for event in self._held
            if isinstance(event, BlockStarted) and event.block["type"] == "error"
        ]
        if end.status == "failed" and errors and errors[-1].get("retryable") is True:
            error = errors[-1]
            raise ProviderError(
                cast("str", error["code"]), cast("str", error["message"]), retryable=True
            )


def _is_visible(event: StreamEvent) -> bool:
    return isinstance(event, BlockStarted) and event.block["type"] not in EXPLAINING_TYPES


async def _drain(pieces: AsyncIterator[bytes]) -> None:
    """Read what follows the end of the answer, so that the connection can be used again.

    Most often it has come already; who dawdles costs us the connection, not time.
    """
    with anyio.move_on_after(DRAIN_S, shield=True), suppress(httpx.HTTPError):
        async for _ in pieces:
            pass


@contextmanager
def _map_errors(decoder: ProviderDecoder, opening: _Opening) -> Iterator[None]:
    """Turn the client's exceptions into ours; a cut after the beginning of an answer is no error.

    What a cut answer then is, the decoder says.
    """
    try:
        yield
    except (httpx.ConnectError, httpx.ConnectTimeout, httpx.ProxyError):
        raise ProviderError(
            "provider_unreachable",
            "No connection to the provider: is it running, and is `base_url` right?",
            retryable=True,
        ) from None
    except httpx.PoolTimeout:
        raise ProviderError(
            "provider_unavailable", "Too many turns ask the provider at once.", retryable=True
        ) from None
    except httpx.TimeoutException:
        raise ProviderError(
            "engine_idle", "The provider stopped sending.", retryable=True
        ) from None
    except httpx.DecodingError:
        raise ProviderError(
            "provider_protocol_error", "The provider's answer is compressed wrongly."
        ) from None
    except (httpx.TransportError, httpx.StreamError):
        if not opening.is_shown and not decoder.is_over:
            raise ProviderError(
                "provider_unreachable",
                "The provider closed the connection before it answered.",
                retryable=True,
            ) from None
    except httpx.InvalidURL:
        raise ProviderError("engine_unavailable", "`base_url` is not a usable address.") from None
