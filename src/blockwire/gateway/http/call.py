"""One request on its way to its route.

Spec: docs/spec/gateway/routes.md. Below is ``answer``, what goes back.

Bodies are read piece by piece and refused before they cost memory; they are strict JSON.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import Any, Final, NamedTuple, TypeVar

import anyio
from starlette.datastructures import Headers

from blockwire.content import View, convert_record
from blockwire.errors import RemoteProtocolError
from blockwire.gateway.access.auth import Auth
from blockwire.gateway.access.callers import Caller
from blockwire.gateway.access.guests import Guests
from blockwire.gateway.access.limits import HttpSettings, Limits
from blockwire.gateway.http.answer import with_base
from blockwire.gateway.http.built_page import BuiltPage
from blockwire.gateway.http.http_errors import gateway_stopping
from blockwire.gateway.operations.observer import RequestRecord
from blockwire.gateway.previews.previewer import Previewer
from blockwire.gateway.service import GatewayService
from blockwire.gateway.settings import GatewaySettings
from blockwire.gateway.streams.hub import Hub
from blockwire.jsontext import Json, decode_json

__all__ = [
    "NDJSON_TYPES", "PAGE_ITEMS", "AsgiScope", "Call", "PeerGoneError", "Receive", "Send",
    "Surface",
]  # fmt: skip

PAGE_ITEMS: Final = 50
"""Items of a page where nothing else is asked for."""

JSON_TYPES: Final = frozenset({"application/json"})
NDJSON_TYPES: Final = frozenset({"application/x-ndjson", "application/ndjson", "application/jsonl"})

_NUMBER: Final = re.compile(r"(0|[1-9][0-9]{0,15})\Z")
_SECONDS: Final = re.compile(r"[0-9]{1,6}(\.[0-9]{1,3})?\Z")
_NO_HEADERS: Final = Headers()
_NO_PARAMETERS: Final[Mapping[str, str]] = {}
_UTF8: Final = frozenset({"utf-8", "utf8"})
_T = TypeVar("_T")

AsgiScope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class PeerGoneError(Exception):
    """The peer left before its request was complete; nobody waits for an answer."""


class Surface(NamedTuple):
    """What all requests share."""

    service: GatewayService
    settings: GatewaySettings
    http: HttpSettings
    auth: Auth
    hub: Hub
    limits: Limits
    guests: Guests
    documents: Mapping[str, bytes]
    # Further ones than those of content and routes.
    schemas: Mapping[str, Json]
    page: BuiltPage
    previewer: Previewer
    # New requests are refused; those that were let in go on.
    draining: anyio.Event
    stopping: anyio.Event
    # Those that wait for more of their body.
    bodies: set[Call]


class Call:
    """A request that was let in.

    Attributes:
        surface: What all requests share.
        caller: Who asks.
        path: Parameters of the path.
        query: Parameters of the query, each known and given once.
        headers: Of the request.
        send: ASGI's; for routes that answer piece by piece.
        receive: ASGI's.
        has_started: A route that answers piece by piece has begun to.
        record: What is told of it afterwards.
        peer: Address of the connection; empty where there is none.
        site_headers: For pages of other origins that may read the answer.
        is_dismissed: What let it in is worth nothing any more.
        on_dismissed: Ends it then, if it does something that lasts.
    """

    __slots__ = (
        "_body_task",
        "_is_given_up",
        "caller",
        "has_started",
        "headers",
        "is_dismissed",
        "method",
        "on_dismissed",
        "path",
        "peer",
        "query",
        "receive",
        "record",
        "send",
        "site_headers",
        "surface",
    )

    def __init__(  # noqa: PLR0913 - what a request consists of
        self,
        surface: Surface,
        caller: Caller,
        method: str,
        headers: Headers,
        *,
        path: Mapping[str, str],
        query: Mapping[str, str],
        receive: Receive,
        send: Send,
        record: RequestRecord,
        peer: str = "",
        site_headers: Sequence[tuple[bytes, bytes]] = (),
    ) -> None:
        self.peer = peer
        self.site_headers = site_headers
        self.is_dismissed = False
        self.on_dismissed: Callable[[], None] | None = None
        self.record = record
        self.surface = surface
        self.caller = caller
        self.method = method
        self.headers = headers
        self.path = path
        self.query = query
        self.receive = receive
        self.send = send
        self.has_started = False
        self._body_task: asyncio.Task[Any] | None = None
        self._is_given_up = False

    def forget_request(self) -> None:
        """Let go of what the request said, for an answer that may last for hours."""
        self.headers = _NO_HEADERS
        self.path = self.query = _NO_PARAMETERS

    async def start(self, headers: Sequence[tuple[bytes, bytes]], *, status: int = 200) -> None:
        """Begin an answer that is then sent piece by piece."""
        self.has_started = True
        self.record.status = status
        every = [*with_base(headers), *self.site_headers]
        await self.send({"type": "http.response.start", "status": status, "headers": every})

    def dismiss(self) -> None:
        """End this call as soon as can be: the secret that let it in is worth nothing any more."""
        self.is_dismissed = True
        if self.on_dismissed is not None:
            self.on_dismissed()
        elif self in self.surface.bodies:
            self.give_up_body()

    def check_stays(self) -> None:
        """Raise RemoteProtocolError ``unauthorized`` once the call is dismissed."""
        if self.is_dismissed:
            raise RemoteProtocolError("unauthorized", "the token was taken back, or is over")

    @property
    def service(self) -> GatewayService:
        """What the gateway can do."""
        return self.surface.service

    @property
    def conversation_id(self) -> str:
        """The conversation that the path names."""
        return self.path["conversation_id"]

    @property
    def turn_id(self) -> str:
        """The turn that the path names."""
        return self.path["turn_id"]

    @property
    def tenant(self) -> str | None:
        """Whose conversations the caller sees."""
        return self.caller.tenant

    def view(self) -> View:
        """Return the view asked for, or the one that the caller has."""
        return self.caller.view(self.query.get("view"))

    # parameters ---------------------------------------------------------------------------
    def number(self, name: str, *, default: int, low: int, high: int) -> int:
        """Return an integer parameter within its bounds.

        Raises:
            RemoteProtocolError: ``invalid_parameter``.
        """
        text = self.query.get(name)
        if text is None:
            return default
        if not _NUMBER.match(text) or not low <= int(text) <= high:
            raise RemoteProtocolError("invalid_parameter", f"{name} is from {low} to {high}")
        return int(text)

    def limit(self) -> int:
        """Return how many items a page may have."""
        high = self.surface.settings.page_items_max
        return self.number("limit", default=min(PAGE_ITEMS, high), low=1, high=high)

    def flag(self, name: str) -> bool:
        """Return whether a parameter is 1; it may be 0, too."""
        if self.query.get(name, "0") not in {"0", "1"}:
            raise RemoteProtocolError("invalid_parameter", f"{name} is 0 or 1")
        return self.query.get(name) == "1"

    def choice(self, name: str, *choices: str) -> str | None:
        """Return a parameter that is one of ``choices``, or None without it."""
        text = self.query.get(name)
        if text is not None and text not in choices:
            raise RemoteProtocolError("invalid_parameter", f"{name} is {' or '.join(choices)}")
        return text

    def wait_s(self) -> float | None:
        """Return ``wait`` in seconds, at most the longest that is allowed; None without it."""
        text = self.query.get("wait")
        if text is None:
            return None
        if not _SECONDS.match(text):
            raise RemoteProtocolError("invalid_parameter", "wait is a number of seconds")
        return min(float(text), self.surface.settings.wait_s_max)

    def converts_keys(self) -> bool:
        """Return whether keys that break the rule are to be converted instead of refused."""
        return self.choice("keys", "refuse", "convert") == "convert"

    # body ---------------------------------------------------------------------------------
    def check_media_type(self, allowed: frozenset[str]) -> None:
        """Check that the body is what it should be.

        Raises:
            RemoteProtocolError: ``unsupported_media_type``, ``unsupported_encoding``.
        """
        media_type, _, parameters = self.headers.get("content-type", "").partition(";")
        if media_type.strip().lower() not in allowed:
            raise RemoteProtocolError(
                "unsupported_media_type", f"the body is sent as {' or '.join(sorted(allowed))}"
            )
        name, _, value = parameters.strip().partition("=")
        if name.lower() == "charset" and value.strip('" ').lower() not in _UTF8:
            raise RemoteProtocolError("unsupported_media_type", "JSON is UTF-8")
        if self.headers.get("content-encoding", "identity").lower() != "identity":
            raise RemoteProtocolError("unsupported_encoding", "the body is sent as it is")

    async def chunks(self, *, bytes_max: int = 0) -> AsyncGenerator[bytes, None]:
        """Yield the body as it arrives.

        Args:
            bytes_max: Refuse what is larger, before it is read where the peer says how large it
                is; 0 for no bound.

        Raises:
            RemoteProtocolError: ``body_too_large``, ``gateway_stopping``.
            PeerGoneError: Before the end of the body.
        """
        announced = self.headers.get("content-length", "0")
        size_bytes = 0
        if bytes_max and announced.isdecimal() and int(announced) > bytes_max:
            raise _too_large(bytes_max)
        more = True
        while more:
            message = await self._receive_piece()
            if message["type"] == "http.disconnect":
                raise PeerGoneError
            chunk: bytes = message.get("body", b"")
            more = message.get("more_body", False)
            size_bytes += len(chunk)
            self.record.received_bytes = size_bytes
            if bytes_max and size_bytes > bytes_max:
                raise _too_large(bytes_max)
            if chunk:
                yield chunk

    async def _receive_piece(self) -> MutableMapping[str, Any]:
        """Return the next piece of the body; a gateway that stops waits for no more of it."""
        waiting = self.surface.bodies
        self.check_stays()
        if self.surface.stopping.is_set():
            raise gateway_stopping()
        self._body_task = task = asyncio.current_task()
        waiting.add(self)
        try:
            return await self.receive()
        except asyncio.CancelledError:
            if not self._is_given_up or task is None:
                raise
            task.uncancel()
            self.check_stays()
            raise gateway_stopping() from None
        finally:
            waiting.discard(self)

    def give_up_body(self) -> None:
        """Stop to wait for more of the body, which it does now; what has come is used."""
        if self._body_task is not None:
            # A cancel scope around each wait would cost more than the wait of a fast producer.
            self._is_given_up = True
            self._body_task.cancel()

    async def json_body(self, *, default: Json = None, may_hold_files: bool = False) -> Json:
        """Return the JSON body, its keys converted where ``keys=convert`` asks for it.

        Args:
            default: Value of an empty body; None refuses one.
            may_hold_files: Whether it may be larger, because of files that are taken out of it.

        Raises:
            RemoteProtocolError: ``body_too_large``, ``request_timeout``, ``gateway_stopping``,
                ``unsupported_media_type``, ``unsupported_encoding``, and the codes of the strict decoder.
        """
        pieces: list[bytes] = []
        body_s_max = self.surface.http.body_s_max
        bytes_max = self.surface.settings.body_bytes_max
        if may_hold_files:
            bytes_max = max(bytes_max, self.surface.settings.inline_body_bytes_max)
        with anyio.move_on_after(body_s_max) as limit:
            async for piece in self.chunks(bytes_max=bytes_max):
                pieces.append(piece)  # noqa: PERF401 - kept whatever ends it
        if limit.cancelled_caught:
            detail = f"a body is to be here within {body_s_max:g} s"
            raise RemoteProtocolError("request_timeout", detail, retryable=True)
        data = b"".join(pieces)
        if not data and default is not None:
            return default
        self.check_media_type(JSON_TYPES)
        return convert_record(data) if self.converts_keys() else decode_json(data)

    async def no_body(self) -> None:
        """Read a body that should say nothing: empty, or an empty object."""
        if await self.json_body(default={}) != {}:
            raise RemoteProtocolError("unknown_field", "this request has no body", pointer="")

    # waiting ------------------------------------------------------------------------------
    async def while_here(self, work: Callable[[], Awaitable[_T]]) -> _T:
        """Return what ``work`` returns; give it up when the peer leaves or the gateway stops.

        Raises:
            PeerGoneError: Nobody waits any more.
            RemoteProtocolError: ``gateway_stopping``.
        """
        with anyio.CancelScope() as scope:

            def give_up(_watching: asyncio.Task[Any]) -> None:
                scope.cancel()

            # Plain tasks, held and ended here: a task group whose tasks are cancelled leaves
            # objects behind, for each call, that only the collector of cycles finds.
            start = asyncio.get_running_loop().create_task
            watching: tuple[asyncio.Task[Any], ...]
            watching = start(self._until_gone()), start(self.surface.stopping.wait())
            for task in watching:
                task.add_done_callback(give_up)
            self.on_dismissed = scope.cancel
            try:
                return await work()
            finally:
                self.on_dismissed = None
                for task in watching:
                    task.remove_done_callback(give_up)
                    task.cancel()
        if watching[0].done() and not watching[0].cancelled():
            raise PeerGoneError
        self.check_stays()
        raise gateway_stopping()

    async def _until_gone(self) -> None:
        while (await self.receive())["type"] != "http.disconnect":
            pass


def _too_large(bytes_max: int) -> RemoteProtocolError:
    return RemoteProtocolError("body_too_large", f"a body has at most {bytes_max} bytes")
