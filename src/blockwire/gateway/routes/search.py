"""Search.

Spec: docs/spec/gateway/search.md.
"""

from __future__ import annotations

from typing import Final

from blockwire.content.vocabulary import NAME_CHARS_MAX, TIME_MAX
from blockwire.errors import RemoteProtocolError
from blockwire.gateway.http.answer import Answer, json_answer
from blockwire.gateway.http.call import Call
from blockwire.gateway.http.operation import Operation, Parameter
from blockwire.gateway.routes.common import CURSOR, VIEW, json_of
from blockwire.gateway.routes.refusals import CURSOR_ERRORS
from blockwire.gateway.search import SEARCHED_ROLES, SearchFilters
from blockwire.jsontext import Json
from blockwire.text import QUERY_CHARS_MAX

__all__ = ["SEARCH_OPERATIONS"]

_HITS_DEFAULT: Final = 20
_HITS_MAX: Final = 100


async def search(call: Call) -> Answer:
    """Answer with a page of blocks that match."""
    call.view()
    text = call.query.get("q")
    if text is None:
        raise RemoteProtocolError("invalid_parameter", "q is what to look for")
    filters = SearchFilters(
        conversation_id=_name(call, "conversation_id"),
        role=call.choice("role", *SEARCHED_ROLES),
        block_type=_name(call, "type"),
        since=_time(call, "since"),
        until=_time(call, "until"),
        tag=_name(call, "tag"),
    )
    page = await call.service.search(
        text,
        filters,
        cursor=call.query.get("cursor"),
        limit=call.number("limit", default=_HITS_DEFAULT, low=1, high=_HITS_MAX),
        tenant=call.tenant,
    )
    return json_answer(page)


def _name(call: Call, name: str) -> str | None:
    text = call.query.get(name)
    if text is not None and len(text) > NAME_CHARS_MAX:
        raise RemoteProtocolError(
            "invalid_parameter", f"{name} has at most {NAME_CHARS_MAX} characters"
        )
    return text


def _time(call: Call, name: str) -> int | None:
    if name not in call.query:
        return None
    return call.number(name, default=0, low=0, high=TIME_MAX)


_NAME: Final[dict[str, Json]] = {"type": "string", "maxLength": NAME_CHARS_MAX}
_TIME: Final[dict[str, Json]] = {"type": "integer", "minimum": 0, "maximum": TIME_MAX}

SEARCH_OPERATIONS: Final = (
    Operation(
        method="GET",
        path="/v1/search",
        id="search",
        summary="Find blocks by their words, the best first.",
        respond=search,
        scope="read",
        tag="search",
        parameters=(
            Parameter(
                name="q",
                description='All of these words; `"a phrase"`, `begin*`, `-without`.',
                schema={"type": "string", "minLength": 1, "maxLength": QUERY_CHARS_MAX},
                is_required=True,
            ),
            Parameter(
                name="conversation_id", description="Only in this conversation.", schema=_NAME
            ),
            Parameter(
                name="role",
                description="Only messages of this role.",
                schema={"enum": [*SEARCHED_ROLES]},
            ),
            Parameter(name="type", description="Only blocks of this type.", schema=_NAME),
            Parameter(
                name="since",
                description="Only messages created at or after it, Unix milliseconds.",
                schema=_TIME,
            ),
            Parameter(
                name="until",
                description="Only messages created before it, Unix milliseconds.",
                schema=_TIME,
            ),
            Parameter(
                name="tag", description="Only conversations that have this tag.", schema=_NAME
            ),
            CURSOR,
            Parameter(
                name="limit",
                description="Hits of the page at most.",
                schema={
                    "type": "integer",
                    "minimum": 1,
                    "maximum": _HITS_MAX,
                    "default": _HITS_DEFAULT,
                },
            ),
            VIEW,
        ),
        responses={200: json_of("search_page", "A page of hits.")},
        errors=("invalid_query", *CURSOR_ERRORS),
    ),
)
