"""Every route against everybody who may not: no token, too few scopes, another tenant, a share link.

The routes come from the router, through the table in ``callbook``: a new route is held here, too.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import httpx
import pytest

from blockwire.gateway.access.auth import SCOPES, Auth, Token, hash_token
from tests.gateway.http.callbook import (
    CALLBOOK,
    ROUTES,
    arguments_of,
    filled,
    target_of,
)
from tests.gateway.http.surface import Surface, body, json_of, surface

pytestmark = pytest.mark.anyio

ALL: Final = Token("all", hash_token("all"), SCOPES)
OURS: Final = Token("ours", hash_token("ours"), SCOPES, "ours")
THEIRS: Final = Token("theirs", hash_token("theirs"), SCOPES, "theirs")
ONLY: Final = [Token(f"only-{s}", hash_token(f"only-{s}"), frozenset({s})) for s in SCOPES]
WITHOUT: Final = [
    Token(f"without-{s}", hash_token(f"without-{s}"), SCOPES - {s}) for s in SCOPES
]  # fmt: skip
GUARDED: Final = sorted(name for name, route in ROUTES.items() if route.scope is not None)
OWNED: Final = sorted(name for name, how in CALLBOOK.items() if how.needs)


@asynccontextmanager
async def world() -> AsyncIterator[tuple[Surface, dict[str, str]]]:
    """Run a gateway in which a tenant has something."""
    async with surface(auth=Auth([ALL, OURS, THEIRS, *ONLY, *WITHOUT])) as s:
        yield s, await filled(s, authorization="Bearer ours")


async def call(
    s: Surface, name: str, places: dict[str, str], token: str | None = None
) -> httpx.Response:
    arguments = arguments_of(target_of(name, places))
    if token is not None:
        arguments["headers"] |= {"authorization": f"Bearer {token}"}
    return await s.client.request(**arguments)


def code_of(response: httpx.Response) -> str | None:
    return None if response.is_success else json_of(response)["error"]["code"]


@pytest.mark.parametrize("name", GUARDED)
@pytest.mark.requirement("auth:tokens:required", "auth:scopes:exact")
async def test_a_route_is_for_whoever_has_its_scope(name: str) -> None:
    scope = ROUTES[name].scope
    async with world() as (s, places):
        assert code_of(await call(s, name, places)) == "unauthorized"
        assert code_of(await call(s, name, places, "unknown")) == "unauthorized"
        for other in SCOPES - {scope}:
            assert code_of(await call(s, name, places, f"only-{other}")) == "insufficient_scope"
        assert code_of(await call(s, name, places, f"without-{scope}")) == "insufficient_scope"
        assert (await call(s, name, places, f"only-{scope}")).status_code not in {401, 403}


@pytest.mark.parametrize("name", OWNED)
@pytest.mark.requirement("auth:tenants:isolated")
async def test_what_belongs_to_another_tenant_is_not_found(name: str) -> None:
    async with world() as (s, places):
        foreign = await call(s, name, places, "theirs")
        unknown = await call(
            s, name, {**places, "conversation_id": "conv_x", "attachment_id": "att_x"}, "theirs"
        )
        own = await call(s, name, places, "ours")

        # Neither status nor words tell that there is something.
        assert foreign.status_code == 404
        assert (foreign.status_code, foreign.text) == (unknown.status_code, unknown.text)
        assert code_of(own) not in {"conversation_not_found", "attachment_not_found"}


@pytest.mark.requirement("auth:tenants:isolated")
async def test_lists_and_searches_of_a_tenant_hold_its_own_only() -> None:
    async with world() as (s, places):
        found = {}
        for token in ("ours", "theirs", "all"):
            listed = json_of(await call(s, "list_conversations", places, token))["items"]
            search = target_of("search", places, "q=Hello")
            hits = await s.client.request(**arguments_of(search, authorization=f"Bearer {token}"))
            found[token] = ([item["id"] for item in listed], len(json_of(hits)["items"]))

        assert found["theirs"] == ([], 0)
        assert found["ours"] == found["all"] == ([places["conversation_id"]], 1)


@pytest.mark.parametrize("name", GUARDED)
@pytest.mark.requirement("auth:shares:reach")
async def test_a_share_link_reaches_what_it_shows_and_nothing_else(name: str) -> None:
    async with world() as (s, places):
        others = await filled(s, authorization="Bearer ours")
        path = f"/v1/conversations/{places['conversation_id']}/shares"
        made = await s.client.post(
            path, **{**body({}), "headers": body({})["headers"] | {"authorization": "Bearer ours"}}
        )
        secret = json_of(made)["secret"]

        own = await call(s, name, places, secret)
        foreign = await call(s, name, others, secret)

        if not ROUTES[name].is_shared:
            assert code_of(own) == "insufficient_scope"
            assert code_of(foreign) == "insufficient_scope"
            return
        assert ROUTES[name].scope == "read"
        assert foreign.status_code == 404
        # A file that no visible message names is not shown.
        assert own.status_code == (404 if CALLBOOK[name].needs == "attachment" else own.status_code)
        assert own.status_code not in {401, 403}


def test_public_links_show_what_is_said_and_nothing_of_how() -> None:
    shown = {name for name, route in ROUTES.items() if route.is_shared}

    assert shown == {
        "read_conversation",
        "list_messages",
        "read_events",
        "export_conversation",
        "download_attachment",
        "read_preview",
        "create_ticket",
    }
