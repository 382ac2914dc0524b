"""The ASGI application: what every request passes, in this order, and the table of routes.

Spec: docs/spec/gateway/routes.md, docs/spec/gateway/auth.md.

Site, protocol version, route, method, caller, scope, rate, parameters; then the route itself. Paths are
matched by Starlette's compiled routes; answers are written here, so that errors and headers are the
same everywhere and a stream has nothing of a framework between itself and the server.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from http import HTTPStatus
from types import MappingProxyType
from typing import Final, NamedTuple

import anyio
import msgspec
from starlette.datastructures import Headers
from starlette.routing import compile_path

from blockwire.errors import BlockwireError, RemoteProtocolError
from blockwire.gateway.access.auth import Auth
from blockwire.gateway.access.entrance import let_in
from blockwire.gateway.access.guests import Guests
from blockwire.gateway.access.limits import HttpSettings, Limits
from blockwire.gateway.http.answer import PROTOCOL, PROTOCOL_HEADER, Answer, with_base
from blockwire.gateway.http.built_page import BuiltPage
from blockwire.gateway.http.call import (
    AsgiScope,
    Call,
    PeerGoneError,
    Receive,
    Send,
    Surface,
)
from blockwire.gateway.http.http_errors import (
    error_body,
    gateway_stopping,
    internal_error,
    retry_after_s,
    status_of,
)
from blockwire.gateway.http.openapi import openapi_document, published_schemas
from blockwire.gateway.http.operation import Operation
from blockwire.gateway.http.queries import read_query
from blockwire.gateway.operations.observer import RequestRecord
from blockwire.gateway.operations.traces import untraced
from blockwire.gateway.operations.tracing import read_traceparent
from blockwire.gateway.previews.previewer import Previewer
from blockwire.gateway.routes import OPERATIONS
from blockwire.gateway.service import GatewayService
from blockwire.gateway.settings import GatewaySettings
from blockwire.gateway.streams.hub import Hub
from blockwire.jsontext import Json, encode_json
from blockwire.ports import Clock

__all__ = ["GatewayApp", "create_app"]

_log: Final = logging.getLogger(__name__)

# No failures, whatever their status: the gateway was told to stop, or was set up without.
_EXPECTED: Final = frozenset({"gateway_stopping", "preview_unavailable"})


def create_app(  # noqa: PLR0913 - what a gateway is made of
    service: GatewayService,
    settings: GatewaySettings,
    auth: Auth,
    *,
    clock: Clock,
    http: HttpSettings | None = None,
    schemas: Mapping[str, Json] = MappingProxyType({}),
    page: BuiltPage | None = None,
    previewer: Previewer | None = None,
) -> GatewayApp:
    """Return the application.

    Args:
        service: What the gateway can do; started and stopped by the caller.
        settings: Bounds of the service.
        auth: Who may call.
        clock: For rates and heartbeats.
        http: Bounds of the HTTP surface.
        schemas: JSON Schemas by name to publish, besides those of content and routes; asked when
            one is read, not before.
        page: What browsers are shown; without it, the one of this release.
        previewer: Makes previews of attached images; without it, one of its own.
    """
    http = http if http is not None else HttpSettings()
    hub = Hub(service.bus, clock, tick_ms=http.tick_ms, heartbeat_s=http.heartbeat_s)
    surface = Surface(
        service=service,
        settings=settings,
        http=http,
        auth=auth,
        hub=hub,
        limits=Limits(http, clock),
        guests=Guests(clock),
        documents=_own_documents(),
        schemas=schemas,
        page=page if page is not None else BuiltPage(),
        previewer=previewer if previewer is not None else Previewer(),
        draining=anyio.Event(),
        stopping=anyio.Event(),
        bodies=set(),
    )
    service.keyring.on_revoked = surface.guests.close
    return GatewayApp(surface, OPERATIONS)


@cache
def _own_documents() -> Mapping[str, bytes]:
    """Return what does not depend on configuration, encoded once a process."""
    documents = {"openapi": encode_json(openapi_document(OPERATIONS))}
    for name, schema in published_schemas().items():
        documents[f"schema:{name}"] = encode_json(schema)
    return MappingProxyType(documents)


class _Arrival(NamedTuple):
    """A request that has just come, and what goes back whatever becomes of it."""

    scope: AsgiScope
    headers: Headers
    receive: Receive
    send: Send
    record: RequestRecord
    site_headers: Sequence[tuple[bytes, bytes]]


class GatewayApp:
    """ASGI 3: ``http`` and ``lifespan``.

    Attributes:
        surface: What requests share.
    """

    def __init__(self, surface: Surface, operations: Iterable[Operation]) -> None:
        self.surface = surface
        paths: dict[str, dict[str, Operation]] = {}
        for operation in operations:
            paths.setdefault(operation.path, {})[operation.method] = operation
        self._fixed = {path: methods for path, methods in paths.items() if "{" not in path}
        self._patterns = [
            (compile_path(path)[0], methods) for path, methods in paths.items() if "{" in path
        ]

    def start(self) -> None:
        """Begin to listen to the bus. Needs a running loop; the lifespan does it, too."""
        self.surface.hub.start()

    def use(self, auth: Auth, http: HttpSettings) -> None:
        """Let in and bound callers as these say, from now on; whose token is gone has to go.

        Of ``http`` the rate of requests counts; the bind, and what streams were opened with, stay.
        """
        surface = self.surface
        gone = surface.auth.take_over(auth)
        if http.requests_per_s != surface.http.requests_per_s:
            surface.limits.use_rate(http)
            self.surface = surface._replace(
                http=msgspec.structs.replace(surface.http, requests_per_s=http.requests_per_s)
            )
        surface.guests.close(gone)

    async def drain(self) -> None:
        """Refuse new requests, and end the turns that run; their readers still hear of it.

        Takes at most ``stop_s_max``. Harmless when repeated.
        """
        self.surface.draining.set()
        await self.surface.service.end_turns()

    def stop(self) -> None:
        """End every stream with its cursor intact, and every wait. Harmless when repeated."""
        self.surface.draining.set()
        self.surface.stopping.set()
        for call in list(self.surface.bodies):
            call.give_up_body()
        self.surface.hub.stop()

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Serve one connection scope."""
        if scope["type"] == "lifespan":
            await self._live(receive, send)
            return
        assert scope["type"] == "http", "the server offers nothing else"
        observer = self.surface.service.observer
        headers = Headers(scope=scope)
        record = observer.start_request(
            scope["method"], read_traceparent(headers.getlist("traceparent"))
        )
        arrival = _Arrival(
            scope, headers, receive, send, record, self._site_headers(headers, scope)
        )
        try:
            answer = await self._answer(arrival)
            if answer is not None:
                record.sent_bytes = 0 if scope["method"] == "HEAD" else len(answer.body)
                await _send_answer(arrival, answer)
                record.status = answer.status
        except PeerGoneError:
            return
        finally:
            observer.end_request(record)

    async def _live(self, receive: Receive, send: Send) -> None:
        await receive()
        self.start()
        await send({"type": "lifespan.startup.complete"})
        await receive()
        self.stop()
        await send({"type": "lifespan.shutdown.complete"})

    def _site_headers(self, headers: Headers, scope: AsgiScope) -> list[tuple[bytes, bytes]]:
        return self.surface.auth.sites.cors_headers(
            headers.getlist("host"),
            headers.getlist("origin"),
            is_preflight=scope["method"] == "OPTIONS",
        )

    async def _answer(self, arrival: _Arrival) -> Answer | None:
        call: Call | None = None
        try:
            operation, call = await self._let_in(arrival)
            with self.surface.guests.staying(call.caller, call.dismiss):
                answer = await operation.respond(call)
        except BlockwireError as error:
            refused = error
        except PeerGoneError:
            raise
        except Exception as error:  # noqa: BLE001 - the last door: nothing of it may get out
            _log.error("a route failed", exc_info=error)
            refused = internal_error()
        else:
            if answer is not None and answer.has_etag:
                return _revalidated(answer, call.headers.getlist("if-none-match"))
            return answer
        arrival.record.code = refused.code
        if status_of(refused) >= 500 and refused.code not in _EXPECTED:
            _log.error("refused: %s", refused.code, exc_info=refused.__cause__)
        if call is not None and call.has_started:
            # Too late for a status; the peer sees a stream that was cut, and its cursor is good.
            end = {"type": "http.response.body", "body": b"", "more_body": False}
            await arrival.send(end)
            return None
        # It holds this frame, which holds it: a cycle that would wait for the collector.
        return _refusal(untraced(refused))

    async def _let_in(self, arrival: _Arrival) -> tuple[Operation, Call]:
        """Return what was called, and the call, once nothing speaks against it.

        Raises:
            BlockwireError: What does.
        """
        surface = self.surface
        scope, headers, receive, send, record, site_headers = arrival
        auth, keyring = surface.auth, surface.service.keyring
        auth.sites.check(
            headers.getlist("host"), headers.getlist("origin"), is_open=auth.is_open(keyring)
        )
        version = headers.get(PROTOCOL_HEADER, PROTOCOL)
        if version != PROTOCOL:
            raise RemoteProtocolError(
                "protocol_mismatch",
                f"the client speaks version {version[:32]!a}, this gateway version {PROTOCOL}",
            )
        operation, path = self._find(scope["path"], scope["method"])
        record.route, record.path = operation.path or record.route, path
        if surface.draining.is_set() and operation.scope is not None:
            raise gateway_stopping()
        caller = await let_in(surface, operation, headers, scope["query_string"], record)
        # A preflight names the query of what it asks for; that request hears what is wrong with it.
        query_string = b"" if scope["method"] == "OPTIONS" else scope["query_string"]
        query = read_query(
            query_string, operation.query_names, bytes_max=surface.http.query_bytes_max
        )
        call = Call(
            surface, caller, scope["method"], headers, path=path, query=query,
            receive=receive, send=send, record=record,
            peer=(scope.get("client") or ("",))[0], site_headers=site_headers,
        )  # fmt: skip
        return operation, call

    def _find(self, path: str, method: str) -> tuple[Operation, Mapping[str, str]]:
        methods, parameters = self._match(path)
        operation = methods.get("GET" if method == "HEAD" else method)
        if operation is None:
            if method == "OPTIONS":
                return _options(_allowed(methods)), parameters
            raise MethodError(_allowed(methods))
        return operation, parameters

    def _match(self, path: str) -> tuple[Mapping[str, Operation], Mapping[str, str]]:
        methods = self._fixed.get(path)
        if methods is not None:
            return methods, {}
        for pattern, candidates in self._patterns:
            match = pattern.match(path)
            if match:
                return candidates, match.groupdict()
        raise RemoteProtocolError("not_found", "no such route; see /openapi.json")


class MethodError(RemoteProtocolError):
    """The route has other methods.

    Attributes:
        allowed: Value of ``Allow``.
    """

    def __init__(self, allowed: str) -> None:
        self.allowed = allowed
        super().__init__("method_not_allowed", f"this route takes {allowed}")


def _allowed(methods: Mapping[str, Operation]) -> str:
    return ", ".join([*methods, *(["HEAD"] if "GET" in methods else []), "OPTIONS"])


def _options(allowed: str) -> Operation:
    """Return what answers OPTIONS on any route: its methods, and to no page of another site."""

    async def answer(call: Call) -> Answer:
        del call
        return Answer(status=204, headers=(("allow", allowed),))

    return Operation(
        method="OPTIONS", path="", id="options", summary="", respond=answer, scope=None, tag="",
        responses={},
    )  # fmt: skip


def _refusal(error: BlockwireError) -> Answer:
    headers: list[tuple[str, str]] = []
    if isinstance(error, MethodError):
        headers.append(("allow", error.allowed))
    wait_s = retry_after_s(error)
    if wait_s is not None:
        headers.append(("retry-after", str(wait_s)))
    status = status_of(error)
    if status == HTTPStatus.REQUEST_TIMEOUT:
        # The rest of the body would be taken for the next request.
        headers.append(("connection", "close"))
    if status == HTTPStatus.UNAUTHORIZED:
        headers.append(("www-authenticate", "Bearer"))
    return Answer(status=status, body=encode_json(error_body(error)), headers=tuple(headers))


def _revalidated(answer: Answer, if_none_match: list[str]) -> Answer:
    """Return the answer with its tag, or 304 when the peer has it already."""
    headers = (*answer.headers, ("etag", answer.etag))
    if not any(name == "cache-control" for name, _value in headers):
        headers = (*headers, ("cache-control", "no-cache"))
    tags = {tag.strip().removeprefix("W/") for line in if_none_match for tag in line.split(",")}
    if answer.status == HTTPStatus.OK and tags & {answer.etag, "*"}:
        return Answer(status=304, headers=headers)
    return Answer(
        status=answer.status, body=answer.body, media_type=answer.media_type, headers=headers
    )


async def _send_answer(arrival: _Arrival, answer: Answer) -> None:
    send = arrival.send
    headers = with_base((name.encode(), value.encode()) for name, value in answer.headers)
    headers += arrival.site_headers
    if answer.status not in {HTTPStatus.NO_CONTENT, HTTPStatus.NOT_MODIFIED}:
        headers.append((b"content-type", answer.media_type.encode()))
        headers.append((b"content-length", str(len(answer.body)).encode()))
    body = b"" if arrival.record.method == "HEAD" else answer.body
    await send({"type": "http.response.start", "status": answer.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
