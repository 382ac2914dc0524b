"""What an agent asks of a person, and what becomes of the answer."""

from __future__ import annotations

from typing import Any, Final

import pytest

from tests.page.people import Person, expect_soon
from tests.page.worlds import Turn, World

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

OPTIONS: Final = ["red", {"colour": "blue", "shade": 7}]


async def wait_for(turn: Turn, kind: str, prompt: str, **more: Any) -> None:
    """Let the turn ask a person."""
    request = {"id": f"request-{prompt}", "kind": kind, "prompt": prompt, **more}
    await turn.say({"type": "turn.suspended", "request": request})


async def begun(world: World, person: Person) -> Turn:
    """Return the turn of a first question."""
    await person.ask("One?")
    return await world.agent.turn()


async def end(person: Person, turn: Turn, words: str) -> None:
    """End the answer with ``words``."""
    await turn.prose(words)
    await person.sees(words)
    await turn.complete()
    await turn.end()
    await person.sees_end()


@pytest.mark.requirement("page:blocks:answers", "page:blocks:first-answer")
async def test_an_approval_and_options_are_answered_by_buttons(world: World) -> None:
    context = await world.person()
    first, second = [Person(await context.new_page()) for _ in range(2)]
    await first.page.goto(world.url)
    turn = await begun(world, first)
    await first.conversation_id()
    await second.page.goto(first.page.url)

    await wait_for(turn, "approval", "Delete the file?")
    for reader in (first, second):
        await expect_soon(reader.answer()).to_contain_text("Delete the file?")
        await expect_soon(reader.answer().get_by_role("textbox")).to_have_count(0)
    await second.answer().get_by_role("button", name="Approve").click()
    assert (await turn.answer())["answer"] is True
    # The other tab sees that it was answered.
    await expect_soon(first.answer().get_by_role("button", name="Approve")).to_have_count(0)

    await wait_for(turn, "question", "Which colour?", options=OPTIONS)
    await first.answer().get_by_role("button", name="blue").click()
    assert (await turn.answer())["answer"] == OPTIONS[1]

    await wait_for(turn, "question", "And which now?", options=OPTIONS)
    field = first.answer().get_by_role("textbox")
    await expect_soon(field).to_be_enabled()
    await field.fill("neither")
    await field.press("Enter")
    assert (await turn.answer())["answer"] == "neither"
    await end(first, turn, "Neither it is.")


@pytest.mark.requirement(
    "page:composer:not-by-question", "page:composer:answer-apart", "page:composer:too-late"
)
async def test_an_answer_is_written_beside_the_draft(world: World) -> None:
    context = await world.person()
    first, second = [Person(await context.new_page()) for _ in range(2)]
    await first.page.goto(world.url)
    turn = await begun(world, first)
    await first.conversation_id()
    await second.page.goto(first.page.url)
    await wait_for(turn, "question", "How many?")

    # What is sent as a question waits in line.
    await expect_soon(first.button("Answer here")).to_be_visible()
    await first.ask("Next question?")
    await expect_soon(first.line).to_contain_text(["Next question?"])
    await first.button("Take back: Next question?").click()
    await expect_soon(first.composer).to_have_value("Next question?")

    await first.button("Answer here").click()
    await expect_soon(first.composer).to_have_value("")
    await first.composer.fill("seven")
    await second.button("Answer here").click()
    await second.composer.fill("eight")
    await first.composer.press("Enter")
    assert (await turn.answer())["answer"] == "seven"
    await expect_soon(first.composer).to_have_value("Next question?")

    # The second one was too late, and lost nothing.
    await expect_soon(second.composer).to_have_value("eight")
    await expect_soon(second.page.get_by_role("alert").first).to_contain_text("answered already")
    await end(second, turn, "Seven.")
    await expect_soon(first.line).to_have_count(0)


@pytest.mark.requirement("page:blocks:rights")
async def test_who_may_not_write_sees_what_is_asked(world: World) -> None:
    person = Person(await world.page())
    turn = await begun(world, person)
    conversation = await person.conversation_id()
    await wait_for(turn, "approval", "Delete the file?")
    await expect_soon(person.answer()).to_contain_text("Delete the file?")
    share = world.call(f"/v1/conversations/{conversation}/shares", method="POST", body={})

    reader = Person(await world.page(f"/#{share['fragment']}"))
    await expect_soon(reader.answer()).to_contain_text("Delete the file?")
    await expect_soon(reader.answer().get_by_role("button", name="Approve")).not_to_be_enabled()
    await expect_soon(reader.composer).to_have_count(0)
    await person.answer().get_by_role("button", name="Decline").click()
    assert (await turn.answer())["answer"] is False
    await end(person, turn, "Kept.")
