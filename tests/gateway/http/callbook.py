"""How each route is called in a gateway that holds something: one row an operation.

Tests that must hold for every route go through this table: what a public view may see (the canary),
whose conversations a tenant reaches, which scope is asked for, what an answer looks like. A route
without a row fails ``test_every_route_has_a_row``; a new row is all that a new route needs.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from blockwire.gateway.http.built_page import BuiltPage
from blockwire.gateway.http.operation import Operation
from blockwire.gateway.routes import OPERATIONS
from tests.archives.samples import archive_lines
from tests.gateway.http.surface import Surface, json_of

__all__ = ["CALLBOOK", "ROUTES", "How", "Target", "arguments_of", "filled", "target_of"]

JSON: Final = "application/json"
NDJSON: Final = "application/x-ndjson"


class How(NamedTuple):
    """How an operation is called; ``{name}`` in body and query is filled in like in the path.

    Attributes:
        body: Of the request, valid by its schema.
        media_type: Of the body.
        query: Parameters without which the call says nothing.
        is_stream: It answers with an event stream, which ``until=idle`` ends.
        needs: What the path must name: ``conversation`` for one of a tenant, ``attachment``,
            ``""`` for nothing that belongs to anybody.
        variants: More queries, to see more of what it answers.
    """

    body: str = ""
    media_type: str = JSON
    query: str = ""
    is_stream: bool = False
    needs: str = "conversation"
    variants: tuple[str, ...] = ()


CALLBOOK: Final[Mapping[str, How]] = {
    "read_health": How(needs=""),
    "read_readiness": How(needs=""),
    "read_metrics": How(needs=""),
    "read_capabilities": How(needs=""),
    "read_openapi": How(needs=""),
    "read_schema": How(needs=""),
    "read_docs": How(needs=""),
    "read_start": How(needs=""),
    "read_page": How(needs=""),
    "read_asset": How(needs=""),
    "create_conversation": How('{"title":"T","tags":["a"],"metadata":{"k":1}}', needs=""),
    "list_conversations": How(needs="", variants=("limit=1",)),
    "read_conversation": How(),
    "update_conversation": How('{"title":"T"}'),
    "delete_conversation": How(),
    "fork_conversation": How('{"turn_id":"{turn_id}"}'),
    "submit_turn": How('{"content":[{"type":"prose","markdown":"?"}]}'),
    "list_turns": How(variants=("limit=1",)),
    "read_turn": How(variants=("wait=0.01",)),
    "cancel_turn": How(),
    "retry_turn": How("{}"),
    "resume_turn": How('{"request_id":"r","answer":null}'),
    "read_events": How(
        query="until=idle", is_stream=True, variants=("until=idle&snapshot=1", "after=999999&until=idle")
    ),
    "read_many_events": How(
        query="conversations={conversation_id}&until=idle",
        is_stream=True,
        variants=("conversations={conversation_id}:999999&until=idle",),
    ),
    "post_events": How('{"type":"x.y","producer_seq":1}\n', NDJSON),
    "list_messages": How(variants=("after=0", "limit=1", "max_bytes=1", "around=msg_x")),
    "append_message": How('{"role":"user","content":"x"}'),
    "upload_attachment": How('"a file that is JSON, too"', "application/octet-stream"),
    "download_attachment": How(needs="attachment"),
    "read_preview": How(needs="attachment", variants=("size=64",)),
    "export_conversation": How(
        query="format=json",
        variants=("format=markdown", "format=html", "format=text", "format=jsonl"),
    ),
    "import_archive": How(b"".join(archive_lines()).decode(), NDJSON, needs=""),
    "search": How(query="q=canary", needs="", variants=("q=can*", 'q="canary"', "q=reasoning")),
    "create_token": How('{"name":"new","scopes":["read"]}', needs=""),
    "list_tokens": How(needs=""),
    "delete_token": How(needs=""),
    "log_in": How('{"token":"wrong"}', needs=""),
    "log_out": How(needs=""),
    "create_ticket": How(),
    "create_share": How("{}"),
    "list_shares": How(),
    "delete_share": How(),
}  # fmt: skip

ROUTES: Final[Mapping[str, Operation]] = {operation.id: operation for operation in OPERATIONS}


async def filled(s: Surface, **headers: str) -> dict[str, str]:
    """Fill a gateway; return the parameters of paths that exist. ``headers`` say who does it."""
    made = await s.client.post("/v1/conversations", headers=headers)
    assert made.status_code == 201, made.text
    conversation_id = json_of(made)["id"]
    path = f"/v1/conversations/{conversation_id}"
    turn = await s.world.ask(conversation_id)
    uploaded = await s.client.post(f"{path}/attachments", content=b"a file", headers=headers)
    shared = await s.client.post(
        f"{path}/shares", content=b"{}", headers={"content-type": JSON} | headers
    )
    return {
        "asset_name": _an_asset(),
        "attachment_id": json_of(uploaded)["id"],
        "conversation_id": conversation_id,
        "turn_id": turn["id"],
        "name": "conversation_turn.json",
        "share_id": json_of(shared)["id"],
        "token_name": "nobody",
    }


def _an_asset() -> str:
    """Return the name of a script of the page."""
    names = BuiltPage().manifest.assets
    return next(name for name in names if name.endswith(".js")).removeprefix("assets/")


class Target(NamedTuple):
    """One request."""

    method: str
    url: str
    content: bytes
    headers: dict[str, str]


def target_of(name: str, places: Mapping[str, str], query: str | None = None) -> Target:
    """Return the request that calls an operation.

    Args:
        name: Of the operation.
        places: Parameters of paths.
        query: Instead of that of its row.
    """
    operation, how = ROUTES[name], CALLBOOK[name]
    path = _filled(operation.path, places)
    asked = _filled(how.query if query is None else query, places)
    headers = {"content-type": how.media_type} if operation.request else {}
    url = f"{path}?{asked}" if asked else path
    return Target(operation.method, url, _filled(how.body, places).encode(), headers)


def _filled(text: str, places: Mapping[str, str]) -> str:
    for name, value in places.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def arguments_of(target: Target, **headers: str) -> dict[str, Any]:
    """Return the arguments of a client's request."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return {
        "method": target.method,
        "url": target.url,
        "content": target.content,
        "headers": target.headers | named,
    }
