"""The page in the browser: itself, and what it loads.

Spec: docs/spec/page/index.md, "Serving". It is the same for everybody and says nothing of anybody's
conversations, so it is there without a token; what it shows, it asks for by the other routes.
"""

from __future__ import annotations

from typing import Final

from blockwire.gateway.http.answer import Answer
from blockwire.gateway.http.built_page import accepts_html
from blockwire.gateway.http.call import Call
from blockwire.gateway.http.operation import Response
from blockwire.gateway.http.pages import LANDING_TEXT
from blockwire.gateway.routes.common import open_document

__all__ = ["PAGE_OPERATIONS"]


async def read_start(call: Call) -> Answer:
    """Answer with the page; whoever does not ask for HTML, as curl does not, gets a few words."""
    if accepts_html(call.headers.get("accept", "")):
        answer = await read_page(call)
        named = [pair for pair in answer.headers if pair[0] != "vary"]
        return Answer(
            body=answer.body,
            media_type=answer.media_type,
            headers=(*named, ("vary", "accept, accept-encoding")),
            has_etag=True,
        )
    return Answer(
        body=LANDING_TEXT,
        media_type="text/plain; charset=utf-8",
        headers=(("vary", "accept, accept-encoding"),),
        has_etag=True,
    )


async def read_page(call: Call) -> Answer:
    """Answer with the page, whichever conversation it is to show."""
    return await call.surface.page.index(call.headers.get("accept-encoding", ""))


async def read_asset(call: Call) -> Answer:
    """Answer with a file that the page loads."""
    return await call.surface.page.asset(
        call.path["asset_name"], call.headers.get("accept-encoding", "")
    )


_VARY: Final = "Packed with gzip where that is accepted."

PAGE_OPERATIONS: Final = (
    open_document(
        "/",
        read_start,
        "The page in a browser; a few words for other programs.",
        Response(
            description="The page where `Accept` names `text/html`, else what this is in a few words.",
            schemas={"text/html": None, "text/plain": None},
            headers={"vary": _VARY},
        ),
        tag="page",
        errors=("page_unreadable",),
    ),
    open_document(
        "/c/{conversation_id}",
        read_page,
        "The same page, to show one conversation.",
        Response(description="The page.", schemas={"text/html": None}, headers={"vary": _VARY}),
        tag="page",
        errors=("page_unreadable",),
    ),
    open_document(
        "/assets/{asset_name}",
        read_asset,
        "A file that the page loads; its name has the hash of its content in it.",
        Response(description="It.", schemas={"*/*": None}, headers={"vary": _VARY}),
        tag="page",
        errors=("not_found", "page_unreadable"),
    ),
)
