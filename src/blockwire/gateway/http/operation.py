"""What a route is: one row of the table that both the router and the OpenAPI document read.

Spec: docs/spec/gateway/routes.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Literal

from msgspec import Struct

from blockwire.gateway.access.callers import Scope
from blockwire.gateway.http.answer import Answer
from blockwire.gateway.http.call import Call
from blockwire.jsontext import Json

__all__ = ["ANY_ERRORS", "Operation", "Parameter", "Responder", "Response", "path_parameters"]

Responder = Callable[[Call], Awaitable[Answer | None]]
"""Answers a call; None when it has answered piece by piece itself."""

ANY_ERRORS: Final[tuple[str, ...]] = (
    "host_refused", "origin_refused", "protocol_mismatch", "unknown_parameter",
    "invalid_parameter", "query_too_large", "rate_limited", "internal_error",
)  # fmt: skip
"""Codes that any route may answer with."""

TOKEN_ERRORS: Final[tuple[str, ...]] = ("unauthorized", "insufficient_scope", "csrf_refused")
"""Codes of any route that asks who calls."""


class Parameter(Struct, frozen=True, kw_only=True):
    """One parameter of the query or a header."""

    name: str
    description: str
    schema: Mapping[str, Json]
    where: Literal["query", "header"] = "query"
    is_required: bool = False


class Response(Struct, frozen=True, kw_only=True):
    """One answer that is not an error.

    Attributes:
        description: A sentence.
        schemas: Name of a schema of the document by media type; None for bytes without one.
        headers: Description by name.
    """

    description: str
    schemas: Mapping[str, str | None] = {}
    headers: Mapping[str, str] = {}


class Operation(Struct, frozen=True, kw_only=True):
    """One method of one path.

    Attributes:
        method: Upper case.
        path: With ``{name}`` for parameters.
        id: Stable name, the document's ``operationId``.
        summary: A sentence.
        respond: Answers a call of it.
        scope: What the caller must be allowed; None for everybody, without a token.
        tag: Where the document lists it.
        parameters: Of query and header; the query may have no others.
        request: Name of the schema of the body by media type.
        responses: By status.
        errors: Codes beyond those that any route has.
        is_request_optional: The body may be missing.
        is_shared: Whoever has a share link or a ticket of a conversation may call it for that.
    """

    method: str
    path: str
    id: str
    summary: str
    respond: Responder
    scope: Scope | None
    tag: str
    responses: Mapping[int, Response]
    parameters: tuple[Parameter, ...] = ()
    request: Mapping[str, str] = {}
    errors: tuple[str, ...] = ()
    is_request_optional: bool = False
    is_shared: bool = False

    @property
    def query_names(self) -> frozenset[str]:
        """Names of what the query may hold."""
        return frozenset(p.name for p in self.parameters if p.where == "query")

    @property
    def all_errors(self) -> tuple[str, ...]:
        """Every code that this route may answer with."""
        return (*ANY_ERRORS, *(TOKEN_ERRORS if self.scope else ()), *self.errors)


def path_parameters(path: str) -> list[str]:
    """Return the names between braces, in order."""
    return [part[1:-1] for part in path.split("/") if part.startswith("{")]
