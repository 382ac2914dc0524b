"""Tokens and share links through both clients."""

from __future__ import annotations

from collections.abc import AsyncIterator

import anyio
import pytest
from anyio.from_thread import start_blocking_portal

from blockwire.client import AsyncClient, Client, ClientError, Share, Token
from blockwire.gateway.access.auth import SCOPES, Auth
from blockwire.gateway.access.auth import Token as GatewayToken
from blockwire.gateway.access.credentials import hash_token
from tests.client.fakes import Send, client_of, playing
from tests.client.live import Live, serving

pytestmark = pytest.mark.anyio

ADMIN = Auth([GatewayToken("admin", hash_token("admin"), SCOPES)])


@pytest.fixture
async def live() -> AsyncIterator[Live]:
    async with serving(auth=ADMIN) as live:
        yield live


async def test_a_token_is_made_listed_used_and_taken_back(live: Live) -> None:
    async with AsyncClient(live.url, token="admin") as client:
        made = await client.create_token("ci", ["write", "read"], tenant="acme")
        ending = await client.create_token("e", ["read"], expires_at=2**45)
        listed = await client.list_tokens()

        assert made.token is not None
        assert (made.scopes, made.tenant, ending.expires_at) == (["read", "write"], "acme", 2**45)
        assert made.token not in repr(made) + repr(listed)
        assert [(token.name, token.token) for token in listed] == [("ci", None), ("e", None)]
        async with AsyncClient(live.url, token=made.token) as other:
            assert (await other.create_conversation()).id
            with pytest.raises(ClientError) as lacking:
                await other.list_tokens()
            await client.revoke_token("ci")
            with pytest.raises(ClientError) as revoked:
                await other.create_conversation()
        await client.revoke_token("e", forget=True)

        assert lacking.value.code == "insufficient_scope"
        assert revoked.value.code == "unauthorized"
        (left,) = await client.list_tokens()
        assert left.revoked_at is not None


async def test_a_conversation_is_shared_and_no_more(live: Live) -> None:
    async with AsyncClient(live.url, token="admin") as client:
        conversation = await client.create_conversation(title="T", tags=["mine"])
        made = await client.create_share(conversation.id)
        for_ever = await client.create_share(conversation.id, days=None)

        assert made.secret is not None
        assert made.secret not in repr(made)
        assert made.expires_at is not None
        assert for_ever.expires_at is None
        async with AsyncClient(live.url, token=made.secret) as guest:
            shown = await guest.read_conversation(conversation.id)
            assert (shown.title, shown.tags) == ("T", [])
            shares = await client.list_shares(conversation.id)
            assert [share.id for share in shares] == [made.id, for_ever.id]
            await client.delete_share(conversation.id, made.id)
            with pytest.raises(ClientError) as gone:
                await guest.read_conversation(conversation.id)

        assert gone.value.code == "unauthorized"


def test_a_program_without_a_loop_does_the_same() -> None:
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(serving(auth=ADMIN)) as live,
        Client(live.url, token="admin") as client,
    ):
        assert client.create_token("a", ["read"]).token is not None
        assert [token.name for token in client.list_tokens()] == ["a"]
        client.revoke_token("a")
        conversation = client.create_conversation()
        share = client.create_share(conversation.id, days=1)
        assert [it.id for it in client.list_shares(conversation.id)] == [share.id]
        client.delete_share(conversation.id, share.id)
        assert client.list_shares(conversation.id) == []


@pytest.mark.parametrize("body", [b'{"name":"a","token":"bw_secret"}', b'{"items":3}', b"[]"])
async def test_an_answer_that_is_none_is_said_to_be_one_without_its_secret(body: bytes) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
    async with (
        playing(*[[Send(head % len(body) + body)]] * 2) as server,
        client_of(server.url) as client,
    ):
        for ask in (lambda: client.create_token("a", ["read"]), client.list_tokens):
            with anyio.fail_after(5), pytest.raises(ClientError) as caught:
                await ask()

            assert caught.value.code == "invalid_answer"
            assert "bw_secret" not in str(caught.value)


def test_secrets_are_not_shown_by_accident() -> None:
    token = Token(name="a", scopes=["read"], created_at=1, token="bw_secret")
    share = Share(id="share_1", created_at=1, secret="bws_secret", fragment="share=x:bws_secret")

    assert "secret" not in f"{token!r} {token} {share!r} {share}"
