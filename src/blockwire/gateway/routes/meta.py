"""The gateway about itself: alive, ready, what it can, how it is called.

Spec: docs/spec/gateway/routes.md. These say nothing of anybody's conversations, so all but the
capabilities are there without a token.
"""

from __future__ import annotations

from typing import Final

from blockwire import __version__
from blockwire.errors import RemoteProtocolError
from blockwire.gateway.http.answer import PROTOCOL, Answer, json_answer
from blockwire.gateway.http.call import Call
from blockwire.gateway.http.http_errors import gateway_stopping
from blockwire.gateway.http.operation import Operation, Response
from blockwire.gateway.http.pages import DOCS_PAGE, PAGE_POLICY
from blockwire.gateway.routes.common import json_of, open_document
from blockwire.jsontext import Json, encode_json

__all__ = ["META_OPERATIONS"]

_HTML: Final = "text/html; charset=utf-8"


async def read_health(call: Call) -> Answer:
    """Answer that the process is alive."""
    del call
    return json_answer({"status": "ok"}, cache_control="no-store")


async def read_readiness(call: Call) -> Answer:
    """Answer 200 when store and bus can be reached, else 503."""
    if call.surface.draining.is_set():
        raise gateway_stopping()
    await call.service.ping()
    return json_answer({"status": "ready"}, cache_control="no-store")


async def read_capabilities(call: Call) -> Answer:
    """Answer with versions, engines and bounds."""
    settings, http = call.surface.settings, call.surface.http
    engines: list[Json] = list(call.service.engine_names)
    scopes: list[Json] = [*sorted(call.caller.scopes)]
    return json_answer(
        {
            "protocol": int(PROTOCOL),
            "version": __version__,
            "engines": engines,
            "models": call.service.models,
            "replays": call.service.replays,
            "previews": call.surface.previewer.is_available,
            "dialects": [],
            "scopes": scopes,
            "limits": {
                "body_bytes_max": settings.body_bytes_max,
                "attachment_bytes_max": settings.attachment_bytes_max,
                "event_bytes_max": settings.event_bytes_max,
                "turns_in_flight_max": settings.turns_in_flight_max,
                "queue_max": settings.queue_max,
                "page_items_max": settings.page_items_max,
                "page_bytes_max": settings.page_bytes_max,
                "wait_s_max": settings.wait_s_max,
                "streams_per_caller_max": http.streams_per_caller_max,
                "stream_conversations_max": http.stream_conversations_max,
                "requests_per_s": http.requests_per_s,
            },
        }
    )


async def read_metrics(call: Call) -> Answer:
    """Answer with the figures of this gateway, for Prometheus."""
    # Imported when somebody asks: a gateway starts faster without.
    from blockwire.gateway.operations.metrics import CONTENT_TYPE_LATEST, Exposition  # noqa: PLC0415

    if call.tenant is not None:
        raise RemoteProtocolError("insufficient_scope", "the figures are of all tenants together")
    exposition = Exposition(call.service, call.surface.hub)
    return Answer(
        body=exposition.text(),
        media_type=CONTENT_TYPE_LATEST,
        headers=(("cache-control", "no-store"),),
    )


async def read_openapi(call: Call) -> Answer:
    """Answer with the OpenAPI document."""
    return Answer(body=call.surface.documents["openapi"], has_etag=True)


async def read_schema(call: Call) -> Answer:
    """Answer with one JSON Schema."""
    path = call.path["name"]
    name = path.removesuffix(".json")
    document = call.surface.documents.get(f"schema:{name}")
    if document is None and name in call.surface.schemas:
        document = encode_json(call.surface.schemas[name])
    if document is None or name == path:
        raise RemoteProtocolError("not_found", "no such schema")
    return Answer(body=document, media_type="application/schema+json", has_etag=True)


async def read_docs(call: Call) -> Answer:
    """Answer with the page that shows the OpenAPI document."""
    del call
    return Answer(body=DOCS_PAGE, media_type=_HTML, headers=PAGE_POLICY, has_etag=True)


META_OPERATIONS: Final = (
    Operation(
        method="GET",
        path="/healthz",
        id="read_health",
        summary="Alive.",
        respond=read_health,
        scope=None,
        tag="about",
        responses={200: json_of("health", "It is.")},
    ),
    Operation(
        method="GET",
        path="/readyz",
        id="read_readiness",
        summary="Store and bus can be reached.",
        respond=read_readiness,
        scope=None,
        tag="about",
        responses={200: json_of("health", "They can.")},
        errors=("gateway_stopping", "store_unavailable", "bus_unavailable"),
    ),
    Operation(
        method="GET",
        path="/metrics",
        id="read_metrics",
        summary="Figures of this gateway, for Prometheus.",
        respond=read_metrics,
        scope="metrics",
        tag="about",
        responses={200: Response(description="They.", schemas={"text/plain": None})},
    ),
    Operation(
        method="GET",
        path="/v1/capabilities",
        id="read_capabilities",
        summary="Versions, engines and bounds.",
        respond=read_capabilities,
        scope="read",
        tag="about",
        responses={200: json_of("capabilities", "What this gateway can.")},
    ),
    open_document(
        "/openapi.json",
        read_openapi,
        "This document.",
        Response(description="It.", schemas={"application/json": None}),
        tag="about",
    ),
    open_document(
        "/schemas/{name}",
        read_schema,
        "One JSON Schema, `NAME.json`.",
        Response(description="It.", schemas={"application/schema+json": None}),
        tag="about",
        errors=("not_found",),
    ),
    open_document(
        "/docs",
        read_docs,
        "The API for people.",
        Response(description="A page without remote loads.", schemas={"text/html": None}),
        tag="about",
    ),
)
