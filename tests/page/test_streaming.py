"""An answer in the page while it is written, whatever happens to page, network and gateway."""

from __future__ import annotations

import pytest

from tests.page.people import Person, expect_soon
from tests.page.worlds import World

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]


async def test_a_first_visit_ends_with_an_answer(world: World) -> None:
    person = Person(await world.page())

    await person.ask("Do they pass?")
    turn = await world.agent.turn()
    assert turn.request["messages"][-1]["content"][0]["markdown"] == "Do they pass?"
    await turn.prose("They **pa")
    await person.sees("They")
    await turn.more("ss**.")
    await turn.complete()
    await turn.end()

    await person.sees_end()
    assert (await person.prose()).strip() == "They pass."
    await expect_soon(person.messages("user")).to_contain_text("Do they pass?")
    assert await person.answer().locator("strong").inner_text() == "pass"
    conversation = await person.conversation_id()
    assert world.call(f"/v1/conversations/{conversation}")["title"] == "Do they pass?"


async def test_a_reload_in_mid_answer_shows_it_once_and_goes_on(world: World) -> None:
    person = Person(await world.page())
    await person.ask("Count.")
    turn = await world.agent.turn()
    await turn.prose("one two ")
    await person.sees("two")

    await person.page.reload()
    await person.sees("two")
    await turn.more("three")
    await person.sees("three")
    await turn.complete()
    await turn.end()

    await person.sees_end()
    assert (await person.prose()).strip() == "one two three"
    await expect_soon(person.messages("user")).to_have_count(1)
    await expect_soon(person.messages("assistant")).to_have_count(1)


async def test_a_cut_network_loses_and_doubles_nothing(world: World) -> None:
    person = Person(await world.page())
    await person.ask("Count.")
    turn = await world.agent.turn()
    await turn.prose("one ")
    await person.sees("one")

    world.network.cut()
    await turn.more("two ")
    await turn.more("three ")
    await expect_soon(person.connection).not_to_have_attribute("data-status", "live")
    world.network.mend()

    await person.sees("three")
    await expect_soon(person.connection).to_have_attribute("data-status", "live")
    await turn.more("four")
    await turn.complete()
    await turn.end()
    await person.sees_end()
    assert (await person.prose()).strip() == "one two three four"


async def test_a_killed_gateway_keeps_what_was_seen_and_says_what_happened(world: World) -> None:
    person = Person(await world.page())
    await person.ask("Count.")
    turn = await world.agent.turn()
    await turn.prose("one two three ")
    await person.sees("three")

    world.gateway.kill()
    await expect_soon(person.connection).not_to_have_attribute("data-status", "live")
    world.gateway.restart()

    await person.sees_end("failed")
    assert (await person.prose()).strip() == "one two three"
    await expect_soon(person.blocks("error")).to_have_count(1)
    await expect_soon(person.connection).to_have_attribute("data-status", "live")

    await person.ask("Again.")
    turn = await world.agent.turn()
    await turn.prose("four")
    await turn.complete()
    await turn.end()
    await person.sees_end()
    await expect_soon(person.messages("assistant")).to_have_count(2)
    assert (await person.prose()).strip() == "four"


async def test_two_tabs_show_the_same_and_share_one_stream(world: World) -> None:
    context = await world.person()
    first = Person(await context.new_page())
    await first.page.goto(world.url)
    await first.ask("Count.")
    turn = await world.agent.turn()
    await turn.prose("one ")
    await first.sees("one")

    others = []
    for _ in range(7):
        other = Person(await context.new_page())
        await other.page.goto(first.page.url)
        others.append(other)
    for other in others:
        await other.sees("one")
    await turn.more("two")
    await turn.complete()
    await turn.end()

    for reader in (first, *others):
        await reader.sees_end()
        assert (await reader.prose()).strip() == "one two"
    assert world.figure("blockwire_readers") == 1
