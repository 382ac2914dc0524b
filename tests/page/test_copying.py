"""What somebody selects with the mouse, and what of it lands in the clipboard."""

from __future__ import annotations

from typing import Any, Final

import pytest

from blockwire.content import Message
from tests.page.histories import WORDS, Reader, history, message, turns
from tests.page.people import Person, expect_soon
from tests.page.worlds import World

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

CLIPBOARD: Final = ["clipboard-read", "clipboard-write"]

# Where a text begins or ends, in client pixels.
_PLACE: Final = """([text, isEnd]) => {
  const walker = document.createTreeWalker(document.querySelector('.tr-rows'), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const at = node.data.indexOf(text);
    if (at < 0) continue;
    const range = document.createRange();
    range.setStart(node, at);
    range.setEnd(node, at + text.length);
    const boxes = range.getClientRects();
    const box = isEnd ? boxes[boxes.length - 1] : boxes[0];
    return [isEnd ? box.right : box.left, (box.top + box.bottom) / 2];
  }
  return null;
}"""


async def place(reader: Reader, text: str, *, is_end: bool = False) -> tuple[float, float]:
    """Return where a text that is drawn begins or ends."""
    found = await reader.page.evaluate(_PLACE, [text, is_end])
    assert found is not None, text
    return (float(found[0]), float(found[1]))


async def select(reader: Reader, begin: str, end: str) -> None:
    """Draw the mouse over what is between two texts in the window, both included."""
    mouse = reader.page.mouse
    await mouse.move(*await place(reader, begin))
    await mouse.down()
    await mouse.move(*await place(reader, end, is_end=True), steps=8)
    await mouse.up()


async def copied(reader: Reader) -> str:
    """Copy, and return what is in the clipboard."""
    await reader.page.keyboard.press("Control+c")
    return str(await reader.page.evaluate("navigator.clipboard.readText()"))


def rich() -> Message:
    """Return an answer of several blocks."""
    content: list[Any] = [
        {
            "id": "p1",
            "type": "prose",
            "markdown": "Hello **bold**.\n\n```python\ndef f():\n    return 1\n\nprint(2)\n```\n\nBelow.",
        },
        {"id": "t1", "type": "tool", "tool": "ls", "status": "completed", "output": "bin\netc"},
        {"id": "c1", "type": "code", "text": "line one\n  line two\n", "language": "text"},
        {"id": "p2", "type": "prose", "markdown": "After the tool."},
    ]
    return {**message("rich", "assistant", ""), "content": content}


@pytest.mark.requirement("page:transcript:copied")
async def test_blocks_and_messages_are_copied_in_order_without_buttons(world: World) -> None:
    said = [message("ask", "user", "First question?"), rich(), message("thanks", "user", "Thanks.")]
    high = {"width": 1280, "height": 1400}
    conversation = history(world, said)
    reader = await Reader.at(world, f"/c/{conversation}", permissions=CLIPBOARD, viewport=high)
    await select(reader, "First question?", "Thanks.")

    text = await copied(reader)

    assert "def f():\n    return 1\n\nprint(2)\n" in text
    assert "line one\n  line two\n" in text
    assert "Copy" not in text
    in_order = ["First question?", "Hello bold.", "def f():", "Below.", "ls", "line one",
                "After the tool.", "Thanks."]  # fmt: skip
    assert sorted(in_order, key=text.index) == in_order


@pytest.mark.requirement("page:transcript:copied")
@pytest.mark.requirement("page:transcript:held")
async def test_messages_that_are_not_drawn_are_copied_too(world: World) -> None:
    reader = await Reader.at(world, f"/c/{history(world, turns(40))}", permissions=CLIPBOARD)
    last = await place(reader, "Answer 39.", is_end=True)
    await reader.page.mouse.click(*last)
    # All the way up, and the first click still counts.
    while int((await reader.first())[0].split("_")[1]) > 22:
        await reader.wheel(-600)
    await reader.wheel(round(await reader.top_of("ask_23")) - 100)
    first = await place(reader, "Question 23:")
    await reader.page.keyboard.down("Shift")
    await reader.page.mouse.click(*first)
    await reader.page.keyboard.up("Shift")

    text = await copied(reader)

    assert text.startswith("Question 23:")
    assert text.endswith("Answer 39.")
    questions = [text.index(f"Question {number}:") for number in range(23, 40)]
    answers = [text.index(f"Answer {number}.") for number in range(23, 40)]
    assert sorted([*questions, *answers]) == [
        at for pair in zip(questions, answers, strict=True) for at in pair
    ]
    # What is selected is what it was.
    assert await copied(reader) == text


@pytest.mark.requirement("page:transcript:selection")
async def test_a_selection_outlives_what_streams_around_and_inside_of_its_block(
    world: World,
) -> None:
    reader = await Reader.at(world, f"/c/{history(world, turns(3))}", permissions=CLIPBOARD)
    person = Person(reader.page)
    await person.ask("Go on.")
    turn = await world.agent.turn()
    await turn.prose("Said before. Words **to be** selected and")
    await person.sees("selected and")
    await select(reader, "Said before.", "selected")
    for number in range(30):
        await turn.more(f" piece {number}," + ("\n\nNext." if number % 9 == 8 else ""))
    await expect_soon(reader.text("piece 29,")).to_be_attached()
    assert await copied(reader) == "Said before. Words to be selected"
    await turn.more("\n\n" + WORDS * 40)
    await turn.complete()
    await turn.end()
    await person.sees_end()
    assert await copied(reader) == "Said before. Words to be selected"
