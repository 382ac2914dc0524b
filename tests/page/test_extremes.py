"""Answers that no agent should give: too much, too deep, too strange, or nothing at all."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.page.people import Person, expect_soon
from tests.page.worlds import Turn, World

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]


def started(block: dict[str, Any]) -> dict[str, Any]:
    """Return the event that begins a block."""
    return {"type": "content.block.started", "block": block}


def completed(block_id: str) -> dict[str, Any]:
    """Return the event that completes it."""
    return {"type": "content.block.completed", "block_id": block_id}


async def begun(world: World) -> tuple[Person, Turn]:
    """Return somebody who asked, and the turn."""
    person = Person(await world.page())
    await person.ask("Show it.")
    return person, await world.agent.turn()


async def same_after_reload(person: Person, kind: str, count: int) -> None:
    """Expect so many blocks, now and when the page is loaded anew."""
    await expect_soon(person.blocks(kind)).to_have_count(count)
    await person.page.reload()
    await expect_soon(person.blocks(kind)).to_have_count(count)


async def test_a_thousand_blocks_are_there_in_their_order(world: World) -> None:
    person, turn = await begun(world)
    for number in range(1_000):
        name = f"b{number}"
        await turn.say(
            started({"id": name, "type": "prose", "markdown": f"part {number}"}), completed(name)
        )
        if number == 500:
            await person.sees("part 500")
    await turn.end()
    await person.sees_end()
    for _ in range(2):
        await person.sees("part 999")
        ids = await person.blocks("prose").evaluate_all(
            "all => all.map(e => e.dataset.blockId).filter(id => /^b\\d+$/.test(id))"
        )
        assert ids == [f"b{number}" for number in range(1_000)]
        await person.page.reload()


async def test_a_vast_output_and_a_vast_line_leave_the_page_usable(world: World) -> None:
    person, turn = await begun(world)
    line = "word " * 1_000_000
    tool = {"id": "t1", "type": "tool", "tool": "read_file", "status": "running", "input": {}}
    await turn.say(started(tool))
    done = {"status": "completed", "output": line}
    await turn.say({"type": "content.block.updated", "block_id": "t1", "set": done})
    await turn.say(completed("t1"))
    await turn.prose("x" * 1_000_000)
    await turn.complete()
    await turn.prose("the end", block_id="b2")
    await turn.complete("b2")
    await turn.end()
    await person.sees("the end")
    await person.sees_end()
    assert len(await person.page.content()) < 4_000_000
    await person.composer.press_sequentially("still here")
    await expect_soon(person.composer).to_have_value("still here")
    await same_after_reload(person, "tool", 1)


# With the levels around it as deep as JSON of ours may be.
DEEP: Final = 25
STRANGE: Final = (
    "__proto__",
    "constructor",
    "toString",
    "hasOwnProperty",
    'a"]<img src=x>',
    "\u202eevil\u2066",
    "spaces and more",
    "💥",
)


async def test_strange_ids_types_and_members_are_only_text(world: World) -> None:
    person, turn = await begun(world)
    for name in STRANGE:
        await turn.say(
            started({"id": name, "type": "prose", "markdown": "plain"}),
            {
                "type": "content.block.delta",
                "block_id": name,
                "field": "markdown",
                "text": " words",
            },
            completed(name),
        )
        member = name if name.isidentifier() and name.islower() else "odd"
        odd = {member: {"__proto__": {"polluted": True}}, "fallback_text": "what it says"}
        await turn.say(
            started({"id": f"{name}.x", "type": f"x_{member}", **odd}), completed(f"{name}.x")
        )
    value: Any = {"__proto__": [1]}
    for _ in range(DEEP):
        value = {"constructor": [value]}
    await turn.say(
        started(
            {"id": "deep", "type": "tool", "tool": "__proto__", "status": "running", "input": value}
        )
    )
    await turn.end()
    await person.sees_end()
    for _ in range(2):
        prose = person.blocks("prose").filter(has_text="plain words")
        await expect_soon(prose).to_have_count(len(STRANGE))
        texts = person.answer().get_by_text("what it says")
        await expect_soon(texts).to_have_count(len(STRANGE))
        await expect_soon(person.blocks("tool")).to_have_count(1)
        assert await person.page.evaluate("({}).polluted === undefined")
        await expect_soon(person.page.locator("img[src=x]")).to_have_count(0)
        await person.page.reload()


async def test_blocks_that_are_empty_or_never_end_do_not_keep_the_answer_open(
    world: World,
) -> None:
    person, turn = await begun(world)
    await turn.say(
        started({"id": "p", "type": "prose", "markdown": ""}),
        started({"id": "c", "type": "code", "text": "", "language": ""}),
        started({"id": "t", "type": "tool", "tool": "x", "status": "running"}),
        started({"id": "r", "type": "reasoning", "text": "", "visibility": "visible"}),
    )
    await turn.end()
    await person.sees_end()
    await expect_soon(person.answer()).not_to_contain_text("Running")
    await expect_soon(person.button("Stop")).to_have_count(0)
    await person.ask("And now?")
    turn = await world.agent.turn()
    await turn.prose("Now.")
    await turn.complete()
    await turn.end()
    await person.sees("Now.")
    await person.sees_end()


async def test_nul_controls_and_overrides_of_direction_are_shown_and_change_nothing(
    world: World,
) -> None:
    person, turn = await begun(world)
    text = "a\x00b\x1b[31mc\u202ed\u2066e\ufefff\u2028g"
    await turn.prose(text)
    await turn.more(text)
    await turn.complete()
    await turn.end()
    await person.sees_end()
    for _ in range(2):
        shown = await person.answer().locator('[data-block-type="prose"]').text_content()
        assert "\x00" not in (shown or "")
        assert [letter for letter in shown or "" if letter in "abcdefg"] == list("abcdefg" * 2)
        await person.page.reload()
        await person.sees("g")


async def test_half_of_a_surrogate_pair_ends_the_answer_and_not_the_page(world: World) -> None:
    person, turn = await begun(world)
    await turn.prose("fine ")
    await person.sees("fine")
    await turn.more("\ud83d")
    await person.sees_end("failed")
    await person.sees("fine")
    await expect_soon(person.blocks("error")).to_have_count(1)
    await person.page.evaluate(
        """() => {
          const field = document.querySelector("[data-testid=search-input]");
          field.value = "half \ud83d";
          field.dispatchEvent(new Event("input", { bubbles: true }));
        }"""
    )
    await expect_soon(person.page.get_by_text("Nothing was found")).to_be_visible()


async def test_a_turn_that_fails_at_once_says_so_and_can_be_asked_again(world: World) -> None:
    person, turn = await begun(world)
    await turn.say({"type": "no.such.event", "block": 7})
    await turn.say(started({"id": "b", "type": 7}))
    await person.sees_end("failed")
    await expect_soon(person.blocks("error")).to_have_count(1)
    await person.answer().get_by_role("button", name="Try again").first.click()
    turn = await world.agent.turn()
    await turn.prose("Better.")
    await turn.complete()
    await turn.end()
    await person.sees("Better.")
    await person.sees_end()


async def test_many_questions_in_line_are_asked_in_their_order(world: World) -> None:
    person, turn = await begun(world)
    await turn.prose("one ")
    await person.sees("one")
    count = 40
    for number in range(count):
        await person.composer.fill(f"Question {number}?")
        await person.composer.press("Enter")
    await expect_soon(person.line).to_have_count(count)
    await turn.complete()
    await turn.end()
    for number in range(count):
        turn = await world.agent.turn()
        asked = turn.request["messages"][-1]["content"][0]["markdown"]
        assert asked == f"Question {number}?"
        await turn.prose(f"Answer {number}.")
        await turn.complete()
        await turn.end()
    await person.sees(f"Answer {count - 1}.")
    await person.sees_end()
    await expect_soon(person.line).to_have_count(0)
