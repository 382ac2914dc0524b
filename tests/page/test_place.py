"""What must not move: text that somebody reads, whatever comes and goes around it."""

from __future__ import annotations

import re
from typing import Final

import pytest

from tests.page.frame import look
from tests.page.histories import WORDS, Reader, history, message, turns
from tests.page.people import Person, expect_soon
from tests.page.worlds import World

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

SAME_PX: Final = 0.5
# A scroll of the browser ends on a whole pixel, and its last one may be painted late.
SCROLLED_PX: Final = 1.0


def asked_for_messages(world: World) -> list[str]:
    """Return the queries of the pages of messages that were asked for."""
    found = (re.search(r"/messages\?(.*)", url) for url in world.requests)
    return [match.group(1) for match in found if match]


@pytest.mark.requirement("page:transcript:place-notice")
async def test_a_notice_of_the_connection_moves_nothing(world: World) -> None:
    reader = await Reader.at(world, f"/c/{history(world, turns(12))}")
    banner = reader.page.get_by_test_id("banner")
    for _ in range(2):
        await reader.watch()
        world.network.cut()
        await look(reader.page)
        await expect_soon(banner).to_be_visible()
        await reader.frames(4)
        world.network.mend()
        # As "Try now" does; the page may do so by itself before anybody can press it.
        await look(reader.page)
        await expect_soon(banner).to_have_count(0)
        assert await reader.moved() <= SCROLLED_PX
        # The same for who reads further up.
        await reader.wheel(-700)


@pytest.mark.requirement("page:transcript:direct")
async def test_a_far_place_is_gone_to_by_one_question(world: World) -> None:
    conversation = history(world, turns(600))
    reader = await Reader.at(world, f"/c/{conversation}#ask_100")
    await expect_soon(reader.text("Question 100:")).to_be_in_viewport()
    await reader.rest()

    (around, *others) = [q for q in asked_for_messages(world) if "around=" in q]
    assert "around=ask_100" in around
    assert others == []
    # That one, and what is near it.
    assert len(asked_for_messages(world)) <= 4

    # It leads on to both sides, and moves by what was scrolled.
    for pixels in (-6_000, 12_000):
        await reader.wheel(pixels // 6, 6)
    assert "ask_100" not in await reader.articles()
    names = await reader.articles()
    numbers = [int(name.split("_")[1]) for name in names]
    assert numbers == sorted(numbers)
    assert numbers[0] > 100

    # The beginning and the end are as near.
    before = len(asked_for_messages(world))
    await reader.transcript.focus()
    await reader.page.keyboard.press("Home")
    await expect_soon(reader.text("Question 0:")).to_be_in_viewport()
    await reader.page.keyboard.press("End")
    await expect_soon(reader.text("Answer 599.")).to_be_attached()
    await reader.rest()
    assert await reader.from_end() <= 2
    assert len(asked_for_messages(world)) <= before + 4


@pytest.mark.requirement("page:transcript:direct")
async def test_a_place_far_away_that_was_left_is_come_back_to_by_one_question(world: World) -> None:
    conversation = history(world, turns(600))
    other = history(world, [message("other", "user", "Something else.")])
    reader = await Reader.at(world, f"/c/{conversation}#say_200")
    await expect_soon(reader.text("Answer 200.")).to_be_in_viewport()
    await reader.wheel(333)
    name, top = await reader.first()
    await reader.page.locator(f'a[data-conversation-id="{other}"]').click()
    await expect_soon(reader.text("Something else.")).to_be_visible()
    world.requests.clear()

    # Forward and back, and anew.
    for come in (reader.page.go_back, reader.page.reload):
        await come()
        await expect_soon(reader.page.locator(f'[data-message-id="{name}"]')).to_be_attached()
        await reader.rest()
        name_now, top_now = await reader.first()
        assert name_now == name
        assert abs(top_now - top) <= 1
    assert len(asked_for_messages(world)) <= 8


async def streaming(world: World, *, count: int = 12) -> tuple[Reader, Person, str]:
    """Return somebody who reads a conversation of ``count`` turns, its id last."""
    conversation = history(world, turns(count))
    reader = await Reader.at(world, f"/c/{conversation}")
    return reader, Person(reader.page), conversation


@pytest.mark.requirement("page:transcript:follow-end")
@pytest.mark.requirement("page:transcript:follow-resume")
async def test_a_resize_neither_ends_following_nor_resumes_it(world: World) -> None:
    reader, person, _ = await streaming(world)
    await person.ask("Say something long.")
    turn = await world.agent.turn()
    await turn.prose("It begins.\n\n" + WORDS * 60)
    await person.sees("It begins.")
    sizes = [(390, 844), (844, 390), (1280, 720), (1280, 300), (1280, 1200), (700, 500)]
    for number, (width, height) in enumerate(sizes):
        await reader.page.set_viewport_size({"width": width, "height": height})
        await turn.more(f"\n\nMark {number}. {WORDS}")
        await expect_soon(reader.text(f"Mark {number}.")).to_be_in_viewport()
        await reader.rest(4)
        assert await reader.from_end() <= 2, (width, height)

    # Who reads a little above the end is not taken there by a window that becomes higher.
    await reader.wheel(-120)
    for number, (width, height) in enumerate(sizes):
        await reader.page.set_viewport_size({"width": width, "height": height})
        await reader.rest(4)
        await reader.watch()
        await turn.more(f"\n\nStop {number}. {WORDS * 3}")
        await expect_soon(reader.text(f"Stop {number}.")).to_be_attached()
        assert await reader.moved() < SAME_PX, (width, height)
    await turn.complete()
    await turn.end()


@pytest.mark.requirement("page:transcript:place-notice")
@pytest.mark.requirement("page:transcript:page-failed")
async def test_a_notice_of_the_connection_covers_no_button(world: World) -> None:
    reader = await Reader.at(world, f"/c/{history(world, turns(60))}")
    await reader.page.route("**/messages?*", lambda route: route.abort())
    await reader.wheel(-20_000, 2)
    again = reader.page.locator(".tr-notice:visible").get_by_role("button", name="Try again")
    await expect_soon(again).to_be_visible()
    await expect_soon(reader.page.get_by_test_id("banner")).to_be_visible()

    assert await again.evaluate(
        """(it) => {
          const { left, right, top, bottom } = it.getBoundingClientRect();
          return document.elementFromPoint((left + right) / 2, (top + bottom) / 2) === it;
        }"""
    )


@pytest.mark.requirement("page:transcript:place-width")
async def test_zoom_moves_nothing(world: World) -> None:
    reader = await Reader.at(world, f"/c/{history(world, turns(30))}")
    await reader.wheel(-1500)
    devices = await reader.page.context.new_cdp_session(reader.page)
    await reader.watch()
    for percent in (50, 90, 125, 150, 200, 100):
        size = {"width": 128_000 // percent, "height": 72_000 // percent}
        device = {"deviceScaleFactor": percent / 100, "mobile": False, **size}
        await devices.send("Emulation.setDeviceMetricsOverride", device)
        await reader.frames(4)
    assert await reader.moved() < SAME_PX
