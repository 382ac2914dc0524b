"""What a person may not see is nowhere in their browser: not drawn, not stored, not sent to it."""

from __future__ import annotations

from typing import Final

import pytest
from playwright.async_api import Page

from tests.page.people import Person, expect_soon
from tests.page.worlds import World
from tests.support.programs import Network

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

CANARY: Final = "canary-7f3a-private"


def tokens(world: World) -> tuple[str, str, str]:
    """Return tokens: of everything, of writing without reasoning, and of reading alone."""
    admin = world.call("/v1/tokens", method="POST", body={"name": "all", "scopes": ["read", "write", "reasoning", "admin", "metrics"]})  # fmt: skip
    key = {"authorization": f"Bearer {admin['token']}"}
    made = [
        world.call("/v1/tokens", method="POST", headers=key, body={"name": name, "scopes": scopes})
        for name, scopes in (("writer", ["read", "write"]), ("reader", ["read"]))
    ]
    return admin["token"], made[0]["token"], made[1]["token"]


async def log_in(page: Page, token: str) -> None:
    """Trade a token for a login, as a person does it."""
    field = page.locator('input[type="password"]')
    await expect_soon(field).to_be_visible()
    await field.fill(token)
    await page.keyboard.press("Enter")
    await expect_soon(field).not_to_be_visible()


async def speak(world: World, person: Person) -> None:
    """Ask, and answer with private reasoning before the words."""
    await person.ask("Think.")
    turn = await world.agent.turn()
    await turn.say(
        {
            "type": "content.block.started",
            "block": {"id": "r1", "type": "reasoning", "text": f"{CANARY} one"},
        },
        {
            "type": "content.block.delta",
            "block_id": "r1",
            "field": "text",
            "text": f" {CANARY} two",
        },
        {"type": "content.block.completed", "block_id": "r1"},
    )
    await turn.prose("The answer.")
    await turn.complete()
    await turn.end()
    await person.sees("The answer.")
    await person.sees_end()


async def everything_in(page: Page) -> str:
    """Return everything of a page that could hold a word: its document and what it stored."""
    document = await page.content()
    return document + await Person(page).storage()


async def test_private_reasoning_is_nowhere_without_the_right(world: World) -> None:
    admin, writer, _reader = tokens(world)
    owner = Person(await world.page())
    await log_in(owner.page, admin)
    await speak(world, owner)
    await expect_soon(owner.blocks("reasoning")).to_have_count(1)
    assert CANARY in await owner.page.content()

    with Network(world.gateway.port, is_kept=True) as network:
        other = Person(await (await world.person()).new_page())
        await other.page.goto(network.url)
        await log_in(other.page, writer)
        await other.page.goto(network.url + owner.page.url.removeprefix(world.url))
        await other.sees("The answer.")
        await expect_soon(other.blocks("reasoning")).to_have_count(0)
        assert CANARY not in await everything_in(other.page)

        # Live, too, in a conversation of their own.
        await other.page.goto(network.url)
        await speak(world, other)
        await expect_soon(other.blocks("reasoning")).to_have_count(0)
        assert CANARY not in await everything_in(other.page)
        world.requests = [url.replace(network.url, world.url) for url in world.requests]

    assert b"The answer." in network.carried
    assert CANARY.encode() not in network.carried


@pytest.mark.requirement("page:login:token")
async def test_a_token_is_in_no_url_no_storage_and_no_cookie_of_scripts(world: World) -> None:
    admin, _writer, _reader = tokens(world)
    person = Person(await world.page())
    await log_in(person.page, admin)
    await speak(world, person)

    assert admin not in await everything_in(person.page)
    assert "bwl_" not in await everything_in(person.page)
    assert not any(admin in url or "bwl_" in url for url in world.requests)
    cookies = await person.page.context.cookies()
    assert [(cookie["httpOnly"], cookie["sameSite"]) for cookie in cookies] == [(True, "Strict")]


@pytest.mark.requirement("page:login:read-only")
async def test_a_reader_without_write_finds_nothing_to_write_with(world: World) -> None:
    admin, _writer, reader = tokens(world)
    owner, other = Person(await world.page()), Person(await world.page())
    await log_in(owner.page, admin)
    await speak(world, owner)

    await log_in(other.page, reader)
    await other.page.goto(owner.page.url)
    await other.sees("The answer.")
    await expect_soon(other.composer).to_have_count(0)
    for name in ("New conversation", "Try again", "Fork from here", "Ask this question again"):
        await expect_soon(other.page.get_by_role("button", name=name)).to_have_count(0)
    await other.page.get_by_role("button", name="Conversation menu").click()
    await expect_soon(other.page.get_by_role("menuitem", name="Markdown")).to_have_count(1)
    for name in ("Rename", "Tags", "Share…", "Fork the whole conversation", "Delete"):
        await expect_soon(other.page.get_by_role("menuitem", name=name)).to_have_count(0)


async def test_a_shared_link_shows_the_public_view_and_ends_when_taken_back(world: World) -> None:
    admin, _writer, _reader = tokens(world)
    owner = Person(await world.page())
    await log_in(owner.page, admin)
    await speak(world, owner)
    conversation = await owner.conversation_id()
    key = {"authorization": f"Bearer {admin}"}
    path = f"/v1/conversations/{conversation}/shares"
    share = world.call(path, method="POST", body={}, headers=key)

    guest = Person(await world.page(f"/#{share['fragment']}"))
    await guest.sees("The answer.")
    await expect_soon(guest.composer).to_have_count(0)
    await expect_soon(guest.blocks("reasoning")).to_have_count(0)
    assert CANARY not in await everything_in(guest.page)
    assert share["secret"] not in await guest.page.content()
    assert not any(share["secret"] in url.partition("#")[0] for url in world.requests)

    world.call(f"{path}/{share['id']}", method="DELETE", headers=key)
    await guest.page.reload()
    await expect_soon(guest.messages("assistant")).to_have_count(0)
    await expect_soon(guest.page.get_by_role("main")).to_contain_text("link")
