"""Find, and other hands on the page, while an answer streams."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.page.histories import WORDS, Reader, history, turns
from tests.page.people import Person, expect_soon
from tests.page.worlds import World

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

SAME_PX: Final = 0.5
# A scroll of the browser ends on a whole pixel, and its last one may be painted late.
SCROLLED_PX: Final = 1.0


async def streaming(world: World, count: int) -> tuple[Reader, Person]:
    """Return somebody who reads a conversation of ``count`` turns."""
    reader = await Reader.at(world, f"/c/{history(world, turns(count))}")
    return reader, Person(reader.page)


@pytest.mark.requirement("page:find:order")
@pytest.mark.requirement("page:find:everything")
async def test_the_current_match_stays_while_others_come_below(world: World) -> None:
    reader, person = await streaming(world, 40)
    await person.ask("Say it.")
    turn = await world.agent.turn()
    await turn.prose("It begins.\n\n")
    await person.sees("It begins.")
    await reader.page.keyboard.press("Control+f")
    await reader.page.get_by_test_id("find-input").fill("what does it say")
    count = reader.page.get_by_test_id("find-count")
    await expect_soon(count).to_contain_text("of 40")
    await reader.page.keyboard.press("Shift+Enter")
    await expect_soon(count).to_contain_text("39 of 40")
    await expect_soon(reader.text("Question 38:")).to_be_in_viewport()
    await reader.rest()

    await reader.watch()
    for number in range(6):
        await turn.more(f"{WORDS} What does it say? {number}\n\n")
    await expect_soon(count).to_contain_text("39 of 46")
    assert await reader.moved() <= SCROLLED_PX

    # Around, over all that came, and back.
    for _ in range(8):
        await reader.page.keyboard.press("Enter")
    await expect_soon(count).to_contain_text("1 of 46")
    await expect_soon(reader.text("Question 0:")).to_be_in_viewport()
    await reader.page.keyboard.press("Shift+Enter")
    await expect_soon(count).to_contain_text("46 of 46")
    await turn.complete()
    await turn.end()


@pytest.mark.requirement("page:transcript:place-below")
@pytest.mark.requirement("page:transcript:follow-end")
async def test_keys_scroll_and_nothing_else_does_while_text_streams(world: World) -> None:
    reader, person = await streaming(world, 20)
    await person.ask("Say something long.")
    turn = await world.agent.turn()
    await turn.prose("It begins.\n\n" + WORDS * 40)
    await person.sees("It begins.")
    await reader.transcript.focus()
    for number, key in enumerate(("PageUp", "PageUp", "Shift+Space", "Space", "ArrowUp", "PageUp")):
        before = await reader.first()
        await reader.page.keyboard.press(key)
        await reader.rest(8)
        assert await reader.first() != before, key
        await reader.watch()
        await turn.more(f"\n\nMark {number}. {WORDS}")
        await expect_soon(reader.text(f"Mark {number}.")).to_be_attached()
        assert await reader.moved() <= SCROLLED_PX, key
    await reader.page.keyboard.press("End")
    await turn.more("\n\nThe last mark.")
    await expect_soon(reader.text("The last mark.")).to_be_in_viewport()
    await turn.complete()
    await turn.end()


_TOGGLE_ABOVE: Final = """() => {
  const { top } = probe.scroller().getBoundingClientRect();
  let count = 0;
  for (const details of document.querySelectorAll('.tr-row details')) {
    if (details.getBoundingClientRect().bottom >= top) continue;
    details.open = !details.open;
    count += 1;
  }
  return count;
}"""


@pytest.mark.requirement("page:transcript:place-above")
@pytest.mark.requirement("page:transcript:place-width")
async def test_what_opens_above_and_beside_moves_nothing_while_text_streams(world: World) -> None:
    said = turns(20)
    for number, part in enumerate(said):
        tool: Any = {"id": f"t{number}", "type": "tool", "tool": "ls", "status": "completed"}
        tool["output"] = "bin\netc\n" * 20
        text: Any = {"id": f"q{number}", "type": "prose", "markdown": WORDS * 3}
        content: Any = part["content"]
        part["content"] = [*content, tool, text]
    reader = await Reader.at(world, f"/c/{history(world, said)}")
    person = Person(reader.page)
    await person.ask("Say it.")
    turn = await world.agent.turn()
    await turn.prose("It begins.\n\n")
    await person.sees("It begins.")
    await reader.wheel(-2500)
    await reader.watch()

    for _ in range(2):
        assert await reader.page.evaluate(_TOGGLE_ABOVE) > 0
        await turn.more(f"{WORDS}\n\n")
        await reader.frames(8)
    await reader.page.get_by_role("button", name="Hide conversations").click()
    await turn.more(f"{WORDS}\n\n")
    await reader.frames(8)
    await reader.page.locator("[data-drawer-open]").click()
    await reader.page.evaluate("document.documentElement.dir = 'rtl'")
    await turn.more(f"{WORDS}\n\n")

    assert await reader.moved(20) < SAME_PX
    await turn.complete()
    await turn.end()
