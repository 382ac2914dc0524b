"""Find in a conversation: over everything that was said, drawn or not."""

from __future__ import annotations

import re

import anyio
import pytest

from blockwire.content import Message
from tests.page.histories import WORDS, Reader, history, message, turns
from tests.page.people import Person, expect_soon
from tests.page.worlds import World
from tests.support.programs import WAIT_S

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

_CURRENT = """() => {
  const range = [...(CSS.highlights.get('tr-found-current') ?? [])][0];
  if (range === undefined) return null;
  const box = range.getBoundingClientRect();
  const window_ = probe.scroller().getBoundingClientRect();
  return [range.startContainer.parentElement?.closest('article')?.dataset.messageId, range.toString(),
    box.top >= window_.top && box.bottom <= window_.bottom];
}"""


async def find(reader: Reader, query: str) -> None:
    """Open the bar and look for ``query``."""
    await reader.page.keyboard.press("Control+f")
    await reader.page.get_by_test_id("find-input").fill(query)


async def counted(reader: Reader, text: str) -> None:
    """Wait until the bar says ``text``."""
    await expect_soon(reader.page.get_by_test_id("find-count")).to_have_text(text)


async def current(reader: Reader, message_id: str, words: str) -> None:
    """Wait until the current match is seen in a message, and is ``words``."""
    # It is counted at once, marked with the next frame, and brought into the window then.
    with anyio.fail_after(WAIT_S):
        while (found := await reader.page.evaluate(_CURRENT)) is None or (
            [found[0], " ".join(found[1].split()), found[2]] != [message_id, words, True]
        ):
            await reader.frames(1)


@pytest.mark.requirement("page:find:everything")
@pytest.mark.requirement("page:find:text")
@pytest.mark.requirement("page:find:count")
@pytest.mark.requirement("page:find:order")
@pytest.mark.requirement("page:find:shown")
@pytest.mark.requirement("page:find:cancel")
async def test_everything_is_found_also_what_is_written_now(world: World) -> None:
    said = turns(120)
    said.insert(5, message("far", "user", "The **nee**dle\nhere, and a NEEDLE   here."))
    said.insert(120, message("middle", "user", "A needle *here*. But no needle there."))
    folded: Message = {"id": "fold", "role": "assistant", "status": "completed", "created_at": 1,
              "content": [{"id": "r", "type": "reasoning", "text": "Is the needle here?", "visibility": "visible"},
                          {"id": "p", "type": "prose", "markdown": WORDS * 30}]}  # fmt: skip
    said.insert(180, folded)
    reader = await Reader.at(world, f"/c/{history(world, said)}")
    person = Person(reader.page)
    await person.ask("Go on.")
    turn = await world.agent.turn()
    await turn.prose("There is a nee")
    await person.sees("There is a nee")

    await find(reader, "needle  HERE")
    await counted(reader, "4 of 4")
    await turn.more("dle here, now.")
    # The one that is current stays so, though others come behind it.
    await counted(reader, "4 of 5")
    await current(reader, "fold", "needle here")
    assert (
        await reader.page.locator("[data-message-id=fold] details").first.get_attribute("open")
        is not None
    )

    press = reader.page.keyboard.press
    await press("Shift+Enter")
    await counted(reader, "3 of 5")
    await current(reader, "middle", "needle here")
    await press("Shift+Enter")
    await counted(reader, "2 of 5")
    await current(reader, "far", "NEEDLE here")
    await press("Shift+Enter")
    await counted(reader, "1 of 5")
    await current(reader, "far", "needle here")
    # Around, in both directions.
    await press("Shift+Enter")
    await counted(reader, "5 of 5")
    await press("Enter")
    await counted(reader, "1 of 5")
    await current(reader, "far", "needle here")

    # A match that is seen moves nothing.
    await reader.watch()
    await press("Enter")
    await counted(reader, "2 of 5")
    await current(reader, "far", "NEEDLE here")
    assert await reader.moved() < 0.5

    # Another question, then none.
    await reader.page.get_by_test_id("find-input").fill("no needle")
    await counted(reader, "1 of 1")
    await reader.page.get_by_test_id("find-input").fill("nothing like it")
    await counted(reader, "No matches")
    await press("Escape")
    await reader.until("CSS.highlights.size === 0")
    await expect_soon(reader.transcript).to_be_focused()
    await turn.complete()
    await turn.end()


@pytest.mark.requirement("page:find:order")
async def test_the_first_match_is_that_from_the_reader_on(world: World) -> None:
    reader = await Reader.at(world, f"/c/{history(world, turns(120))}#say_30/say_30_b")
    await expect_soon(reader.text("Answer 30.")).to_be_in_viewport()

    await find(reader, "Question ")
    await expect_soon(reader.page.get_by_test_id("find-count")).to_have_text(
        re.compile(r"^\d+ of 120$")
    )
    await reader.until(f"({_CURRENT})() !== null")
    name, _, _ = await reader.page.evaluate(_CURRENT)
    assert 29 <= int(name.split("_")[1]) <= 32


@pytest.mark.requirement("page:find:failed")
async def test_what_could_not_be_searched_is_said_and_searched_again(world: World) -> None:
    said = turns(120)
    said.insert(5, message("far", "user", "A needle."))
    reader = await Reader.at(world, f"/c/{history(world, said)}")
    await reader.page.route("**/messages?*", lambda route: route.abort())
    await find(reader, "needle")
    await counted(reader, "Not everything could be searched.")

    await reader.page.unroute("**/messages?*")
    await reader.page.get_by_test_id("find-input").press("Enter")
    await counted(reader, "1 of 1")


@pytest.mark.requirement("page:find:bounded")
@pytest.mark.requirement("page:find:linear")
async def test_many_matches_and_strange_texts_end(world: World) -> None:
    many = "a needle " * 500
    strange = [
        "*" * 40_000,
        "[" * 40_000,
        "`" * 40_000,
        "<" * 40_000,
        "_a" * 20_000,
        "![](" * 10_000,
    ]
    said = [message(f"many_{number}", "user", many) for number in range(60)]
    said += [message(f"odd_{number}", "user", text) for number, text in enumerate(strange)]
    reader = await Reader.at(world, f"/c/{history(world, said)}")
    await find(reader, "needle")
    count = reader.page.get_by_test_id("find-count")
    await expect_soon(count).to_contain_text("Only the newest matches are counted.")
    text = (await count.inner_text()).replace(",", "")
    found = re.search(r"of (\d+)\+", text)
    assert found is not None, text
    assert 10_000 <= int(found[1]) < 30_000
