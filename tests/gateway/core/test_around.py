"""A page of messages around one of them: how somebody goes to a far place without walking there."""

from __future__ import annotations

from typing import Any

import pytest

from blockwire.content import View
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import Json
from tests.gateway.core.world import World, gateway, line

pytestmark = pytest.mark.anyio

SECRET = "between us"


async def page_of(
    world: World,
    conversation_id: str,
    *,
    limit: int = 50,
    bytes_max: int = 1_000_000,
    view: View = "owner",
    **place: str | None,
) -> dict[str, Any]:
    return await world.service.list_messages(
        conversation_id,
        before=place.get("before"),
        after=place.get("after"),
        around=place.get("around"),
        limit=limit,
        bytes_max=bytes_max,
        view=view,
        tenant=None,
    )


async def talk(world: World) -> str:
    """Return a conversation of questions, answers, one that runs, and one message behind it."""
    conversation_id = await world.conversation()
    for number in range(4):
        await world.ask(conversation_id, f"Question {number}")
    await world.service.append_message(
        conversation_id, {"id": "secret", "role": "developer", "content": SECRET}, None
    )
    turn_id = await world.submit(conversation_id, "Last", engine="external")
    block: Json = {"id": "b1", "type": "prose", "markdown": "so far"}
    started = line(type="content.block.started", turn_id=turn_id, block=block)
    await world.post(conversation_id, turn_id, started)
    await world.service.append_message(conversation_id, {"role": "user", "content": "!"}, None)
    return conversation_id


@pytest.mark.parametrize("view", ["owner", "public"])
@pytest.mark.parametrize("limit", [1, 2, 3, 4, 50])
@pytest.mark.parametrize("bytes_max", [1, 700, 1_200, 100_000])
@pytest.mark.requirement("gateway:read:around")
@pytest.mark.requirement("gateway:read:pages")
async def test_a_page_around_any_message_joins_on_both_sides(
    limit: int, bytes_max: int, view: View
) -> None:
    async with gateway() as world:
        conversation_id = await talk(world)
        whole = (await page_of(world, conversation_id, view=view))["items"]
        assert len(whole) == (12 if view == "owner" else 11)
        bounds: dict[str, Any] = {"limit": limit, "bytes_max": bytes_max, "view": view}

        for message in whole:
            page = await page_of(world, conversation_id, around=message["id"], **bounds)
            items = page["items"]
            assert message in items
            assert len(items) <= limit

            before = page["next_cursor"]
            while before is not None:
                older = await page_of(world, conversation_id, before=before, **bounds)
                items = [*older["items"], *items]
                before = older["next_cursor"]
            after = page["previous_cursor"]
            while after is not None:
                newer = await page_of(world, conversation_id, after=after, **bounds)
                items = [*items, *newer["items"]]
                after = newer["next_cursor"]
            assert items == whole


@pytest.mark.requirement("gateway:read:around")
async def test_a_page_around_a_message_has_both_sides_of_it_and_stays_within_its_bounds() -> None:
    async with gateway() as world:
        conversation_id = await talk(world)
        whole = (await page_of(world, conversation_id))["items"]

        page = await page_of(world, conversation_id, around=whole[5]["id"], limit=5)

        assert page["items"] == whole[3:8]
        first = await page_of(world, conversation_id, around=whole[0]["id"], limit=50)
        assert (first["items"], first["next_cursor"], first["previous_cursor"]) == (
            whole,
            None,
            None,
        )


@pytest.mark.requirement("gateway:read:pages")
async def test_a_page_leads_on_at_its_other_end() -> None:
    async with gateway() as world:
        conversation_id = await talk(world)
        whole = (await page_of(world, conversation_id))["items"]
        last = await page_of(world, conversation_id, limit=4)
        older = await page_of(world, conversation_id, limit=4, before=last["next_cursor"])

        again = await page_of(world, conversation_id, limit=4, after=older["previous_cursor"])
        assert again["items"] == last["items"] == whole[8:]
        back = await page_of(world, conversation_id, limit=4, before=again["previous_cursor"])
        assert back["items"] == older["items"]

        empty = await page_of(world, conversation_id, after=last["previous_cursor"])
        assert empty == {"items": [], "next_cursor": None, "previous_cursor": None}


@pytest.mark.requirement("gateway:read:around")
async def test_a_message_that_is_not_there_or_not_for_the_reader_is_refused() -> None:
    async with gateway() as world:
        conversation_id = await talk(world)
        other = await world.conversation()
        await page_of(world, conversation_id, around="secret")

        for where, message_id, view in (
            (conversation_id, "msg_no", "owner"),
            (conversation_id, "", "owner"),
            (conversation_id, "secret", "public"),
            (other, "secret", "owner"),
        ):
            with pytest.raises(RemoteProtocolError) as refused:
                await page_of(world, where, around=message_id, view=view)  # type: ignore[arg-type]
            assert refused.value.code == "message_not_found"
