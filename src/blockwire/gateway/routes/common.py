"""What rows of the route table have in common."""

from __future__ import annotations

from typing import Final

from blockwire.content.vocabulary import VIEWS
from blockwire.gateway.http.call import PAGE_ITEMS
from blockwire.gateway.http.operation import Operation, Parameter, Responder, Response
from blockwire.gateway.settings import GatewaySettings

__all__ = [
    "CURSOR", "KEYS", "LIMIT", "NOT_MODIFIED", "VIEW", "WAIT", "json_of", "open_document",
]  # fmt: skip

JSON: Final = "application/json"

CURSOR: Final = Parameter(
    name="cursor",
    description="`next_cursor` of the page before; opaque.",
    schema={"type": "string"},
)
LIMIT: Final = Parameter(
    name="limit",
    description="Items of the page at most.",
    schema={
        "type": "integer",
        "minimum": 1,
        "maximum": GatewaySettings().page_items_max,
        "default": PAGE_ITEMS,
    },
)
VIEW: Final = Parameter(
    name="view",
    description="`public` asks for less than the caller may see; `owner` needs `reasoning`.",
    schema={"enum": [*VIEWS]},
)
WAIT: Final = Parameter(
    name="wait",
    description="Seconds to wait for news at most; longer waits are cut to the gateway's bound.",
    schema={"type": "number", "minimum": 0},
)
KEYS: Final = Parameter(
    name="keys",
    description="`convert` turns keys that break the key rule into snake_case, without loss.",
    schema={"enum": ["refuse", "convert"], "default": "refuse"},
)
NOT_MODIFIED: Final = Response(description="`If-None-Match` names what would be answered.")


def json_of(schema: str, description: str, **headers: str) -> Response:
    """Return a JSON answer; ``headers`` name theirs with ``_`` for ``-``."""
    named = {name.replace("_", "-"): text for name, text in headers.items()}
    return Response(description=description, schemas={JSON: schema}, headers=named)


def open_document(  # noqa: PLR0913 - a row of the table
    path: str,
    respond: Responder,
    summary: str,
    answer: Response,
    *,
    tag: str,
    errors: tuple[str, ...] = (),
) -> Operation:
    """Return the route of what is the same for everybody: without a token, and 304 for who has it.

    Its id is the name of ``respond``.
    """
    return Operation(
        method="GET",
        path=path,
        id=respond.__name__,
        summary=summary,
        respond=respond,
        scope=None,
        tag=tag,
        responses={200: answer, 304: NOT_MODIFIED},
        errors=errors,
    )
