"""Questions from the press of Send until their turns begin, whatever happens meanwhile."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import anyio
import pytest
from playwright.async_api import Browser, Route

from tests.page.people import Person, expect_soon
from tests.page.worlds import Turn, World, opened_world
from tests.support.programs import WAIT_S

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

TURNS: Final = "**/turns"


def asked(turn: Turn) -> str:
    """Return the words of the question that a turn answers."""
    return str(turn.request["messages"][-1]["content"][0]["markdown"])


async def begin(
    world: World, person: Person, question: str = "One?", answer: str = "First"
) -> Turn:
    """Ask, and return the turn with the first words of its answer."""
    await person.ask(question)
    turn = await world.agent.turn()
    assert asked(turn) == question
    await turn.prose(answer)
    await person.sees(answer)
    return turn


async def finish(person: Person, turn: Turn) -> None:
    """End an answer, and wait until it is seen."""
    await turn.complete()
    await turn.end()
    await person.sees_end()


async def answer(world: World, person: Person, question: str, words: str) -> None:
    """Answer the turn that has to be the next one."""
    turn = await world.agent.turn()
    assert asked(turn) == question
    await turn.prose(words)
    await turn.complete()
    await turn.end()
    told = person.messages("assistant").filter(has_text=words)
    await expect_soon(told).to_have_attribute("data-status", "completed")


async def until(holds: Callable[[], bool]) -> None:
    """Wait for what no page shows."""
    with anyio.fail_after(WAIT_S):
        while not await anyio.to_thread.run_sync(holds):  # noqa: ASYNC110 - nothing tells of it
            await anyio.sleep(0.05)


def conversations(world: World) -> list[Any]:
    """Return all conversations of the gateway."""
    return list(world.call("/v1/conversations")["items"])


async def refuse(route: Route, status: int, code: str, **headers: str) -> None:
    """Answer a request as the gateway would."""
    error = {"code": code, "message": "told by the test", "retryable": status in {429, 503}}
    await route.fulfill(
        status=status,
        headers={"content-type": "application/json", "blockwire-protocol": "1", **headers},
        body=json.dumps({"error": error}),
    )


@pytest.mark.requirement(
    "page:composer:once", "page:composer:drafts", "page:composer:drafts-gone", "page:composer:line"
)
async def test_questions_in_line_survive_a_reload_and_a_killed_gateway(world: World) -> None:
    person = Person(await world.page())
    await begin(world, person)
    await person.ask("Two?")
    await expect_soon(person.line).to_contain_text(["Two?"])
    await expect_soon(person.line.nth(0)).to_contain_text("Next")
    await person.ask("Three?")
    await expect_soon(person.line).to_contain_text(["Two?", "Three?"])
    await expect_soon(person.line.nth(1)).to_contain_text("Number 2")
    await person.composer.fill("a draft")

    await person.page.reload()
    await expect_soon(person.line).to_contain_text(["Two?", "Three?"])
    await expect_soon(person.composer).to_have_value("a draft")

    world.gateway.kill()
    world.gateway.restart()
    await answer(world, person, "Two?", "Second")
    await answer(world, person, "Three?", "Third")

    await expect_soon(person.line).to_have_count(0)
    await expect_soon(person.messages("user")).to_contain_text(["One?", "Two?", "Three?"])
    assert await person.composer.input_value() == "a draft"
    await person.composer.fill("")
    await person.page.reload()
    await person.sees("Third")
    kept = await person.storage()
    assert [word for word in ("Two?", "Three?", "a draft") if word in kept] == []


@pytest.mark.requirement("page:composer:stopping")
async def test_a_gateway_that_stops_brings_no_question_back(world: World) -> None:
    person = Person(await world.page())
    await begin(world, person)
    await person.ask("Two?")
    await expect_soon(person.line).to_contain_text(["Next"])

    await anyio.to_thread.run_sync(world.gateway.stop)
    assert await person.composer.input_value() == ""
    world.gateway.restart()

    await answer(world, person, "Two?", "Second")
    await expect_soon(person.line).to_have_count(0)
    assert await person.composer.input_value() == ""


@pytest.mark.requirement("page:composer:not-shown", "page:composer:one-at-a-time")
async def test_questions_go_on_in_order_where_nobody_looks(world: World) -> None:
    person = Person(await world.page())
    await finish(person, await begin(world, person))
    sent: list[str] = []

    async def lose(route: Route) -> None:
        body: Any = route.request.post_data_json
        sent.append(f"{body['content']} {route.request.headers['idempotency-key']}")
        await route.abort("connectionreset")

    await person.page.route(TURNS, lose)
    await person.ask("Two?")
    await person.ask("Three?")
    await expect_soon(person.line).to_contain_text(["Two?", "Three?"])
    await person.page.get_by_role("button", name="New conversation").first.click()
    await expect_soon(person.line).to_have_count(0)
    await until(lambda: len(sent) >= 3)
    # One question alone, again and again under one key, until it is answered for.
    assert len(set(sent)) == 1
    assert sent[0].startswith("Two? ")

    await person.page.unroute(TURNS)
    turn = await world.agent.turn()
    assert asked(turn) == "Two?"
    await turn.end()
    turn = await world.agent.turn()
    assert asked(turn) == "Three?"
    await turn.end()


@pytest.mark.requirement("page:composer:made-once")
async def test_lost_answers_make_one_conversation_and_one_question(world: World) -> None:
    person = Person(await world.page())
    lost = {"conversations": 1, "turns": 2}

    async def lose(route: Route) -> None:
        name = route.request.url.rpartition("/")[2]
        if route.request.method == "POST" and lost.get(name, 0) > 0:
            lost[name] -= 1
            await route.fetch()
            await route.abort("connectionreset")
        else:
            await route.continue_()

    await person.page.route("**/v1/conversations", lose)
    await person.page.route(TURNS, lose)
    await person.ask("Hello?")
    await answer(world, person, "Hello?", "Hello.")

    assert lost == {"conversations": 0, "turns": 0}
    assert len(conversations(world)) == 1
    await expect_soon(person.messages("user")).to_have_count(1)


@pytest.mark.requirement("page:composer:held", "page:composer:try-now")
async def test_whoever_waits_is_told_why_and_can_try_at_once(world: World) -> None:
    person = Person(await world.page())
    await finish(person, await begin(world, person))
    await person.page.route(
        TURNS, lambda route: refuse(route, 503, "store_busy", **{"retry-after": "600"})
    )
    await person.ask("Two?")
    held = person.page.get_by_role("region", name="Questions that wait")
    await expect_soon(held).to_contain_text("The storage of the gateway is busy.")

    await person.page.unroute(TURNS)
    await person.button("Try now").click()
    await answer(world, person, "Two?", "Second")


@pytest.mark.requirement("page:composer:login")
async def test_a_question_outlives_the_login(world: World) -> None:
    person = Person(await world.page())
    await finish(person, await begin(world, person))
    await person.page.route(TURNS, lambda route: refuse(route, 401, "unauthorized"))
    await person.ask("Two?")
    await expect_soon(person.page.locator('input[type="password"]')).to_be_visible()
    assert "Two?" in await person.storage()

    await person.page.unroute(TURNS)
    await person.page.reload()
    await answer(world, person, "Two?", "Second")
    await expect_soon(person.messages("user")).to_have_count(2)


@pytest.mark.requirement("page:composer:went-on")
async def test_somebody_else_asked_first(world: World) -> None:
    person = Person(await world.page())
    await finish(person, await begin(world, person))
    path = f"/v1/conversations/{await person.conversation_id()}/turns"

    world.network.cut()
    await expect_soon(person.connection).not_to_have_attribute("data-status", "live")
    await person.ask("And then?")
    await person.ask("And after that?")
    world.call(path, method="POST", body={"content": "Meanwhile?"})
    turn = await world.agent.turn()
    assert asked(turn) == "Meanwhile?"
    await turn.prose("Much.")
    await turn.complete()
    await turn.end()
    world.network.mend()

    await expect_soon(person.line.first).to_contain_text("went on elsewhere")
    await person.sees("Much.")
    await person.button("Take back: And after that?").click()
    await expect_soon(person.composer).to_have_value("And after that?")
    await person.button("Ask it anyway").click()
    await answer(world, person, "And then?", "Then.")


@pytest.mark.requirement("page:composer:gone")
async def test_words_of_a_deleted_conversation_go_on_in_a_new_one(world: World) -> None:
    person = Person(await world.page())
    await finish(person, await begin(world, person))
    await person.composer.fill("my words")
    conversation = await person.conversation_id()
    world.call(f"/v1/conversations/{conversation}", method="DELETE")
    await person.button("Begin a new conversation").click()

    await expect_soon(person.composer).to_have_value("my words")


@pytest.mark.requirement("page:composer:line", "page:composer:taken-out")
async def test_each_sees_what_others_have_in_line(world: World) -> None:
    context = await world.person()
    first, second = [Person(await context.new_page()) for _ in range(2)]
    await first.page.goto(world.url)
    turn = await begin(world, first)
    await second.page.goto(first.page.url)
    await second.sees("First")
    await first.ask("Mine?")
    await first.composer.fill("a draft")

    await expect_soon(second.line).to_contain_text(["Mine?"])
    await expect_soon(second.line).to_contain_text(["Asked elsewhere"])
    await second.button("Remove from the line: Mine?").click()

    await expect_soon(first.composer).to_have_value("Mine?\n\na draft")
    await expect_soon(first.page.get_by_role("alert").first).to_contain_text(
        "taken out of the line"
    )
    await expect_soon(second.line).to_have_count(0)
    await first.composer.fill("Mine again?")
    await first.composer.press("Enter")
    await first.button("Take back: Mine again?").click()
    await expect_soon(first.composer).to_have_value("Mine again?")
    await finish(first, turn)


@pytest.mark.requirement("page:composer:stop", "page:composer:escape")
async def test_stopping_ends_the_answer_and_not_the_line(world: World) -> None:
    person = Person(await world.page())
    await begin(world, person)
    await person.ask("Two?")
    await expect_soon(person.line).to_have_count(1)
    await person.page.get_by_test_id("stop").click()
    await expect_soon(person.answer(0)).to_have_attribute("data-status", "cancelled")

    turn = await world.agent.turn()
    assert asked(turn) == "Two?"
    await turn.prose("Second")
    await person.sees("Second")
    await person.composer.fill("typing")
    await person.composer.press("Escape")
    await person.composer.press("Escape")
    assert await person.composer.input_value() == "typing"
    await person.composer.fill("")
    await person.composer.press("Escape")
    await expect_soon(person.composer).to_have_accessible_description(
        "Press Esc again to stop the answer."
    )
    await turn.more(" and more")
    await person.sees("Second and more")
    await expect_soon(person.answer()).to_have_attribute("data-status", "streaming")
    await person.composer.press("Escape")
    await person.sees_end("cancelled")
    await expect_soon(person.page.get_by_test_id("stop")).to_have_count(0)


@pytest.mark.requirement("page:composer:stale")
async def test_an_old_question_is_not_sent_by_itself(world: World) -> None:
    page = await world.page()
    person = Person(page)
    await finish(person, await begin(world, person))
    sent: list[str] = []

    async def lose(route: Route) -> None:
        sent.append(route.request.method)
        await route.abort("connectionreset")

    await page.route(TURNS, lose)
    await person.ask("Of yesterday?")
    await until(lambda: len(sent) > 0)
    # As a browser restores it on another day.
    await page.add_init_script(
        """for (const [name, text] of Object.entries({...sessionStorage}))
             sessionStorage[name] = text.replace(/"askedAtMs":\\d+/g, '"askedAtMs":1000');"""
    )
    await page.reload()
    sent.clear()

    await expect_soon(person.composer).to_have_value("Of yesterday?")
    await expect_soon(person.line).to_have_count(0)
    await person.sees_end()
    assert sent == []


@pytest.mark.requirement(
    "page:composer:enter",
    "page:composer:ime",
    "page:composer:long-paste",
    "page:composer:too-large",
)
async def test_keys_and_pastes(world: World) -> None:
    person = Person(await world.page())
    page, composer = person.page, person.composer
    await composer.fill("A")
    await composer.press("Shift+Enter")
    await composer.press_sequentially("B")
    # What ends the choosing of characters, in the two ways in which browsers tell it.
    await composer.evaluate(
        """(area) => {
          for (const more of [{isComposing: true}, {keyCode: 229}])
            area.dispatchEvent(new KeyboardEvent("keydown",
              {key: "Enter", bubbles: true, cancelable: true, ...more}));
        }"""
    )
    await expect_soon(composer).to_have_value("A\nB")
    await composer.press("Enter")
    turn = await world.agent.turn()
    assert asked(turn) == "A\nB"
    await turn.end()
    await person.conversation_id()

    await composer.fill("p" * 20_001)
    await composer.press("Control+a")
    await composer.press("Control+x")
    await composer.press_sequentially("See this: ")
    await composer.press("Control+v")
    await person.button("Attach it as a file").click()
    await expect_soon(person.files).to_contain_text(["pasted.txt"])
    await expect_soon(composer).to_have_value("See this: ")
    await person.button("Remove pasted.txt").click()

    await composer.fill("x" * 1_048_577)
    await composer.press("Enter")
    await expect_soon(page.get_by_role("alert").first).to_contain_text("too long for a question")
    await person.button("Attach the text as a file").click()
    await expect_soon(person.files).to_contain_text(["1.0 MB"])
    await expect_soon(composer).to_have_value("")


@pytest.mark.requirement(
    "page:composer:engine", "page:composer:engine-model", "page:composer:refused"
)
async def test_engine_and_model(browser: Browser, tmp_path: Path) -> None:
    second = '[engines.second]\nkind = "command"\ncommand = $PUPPET\n'
    async with opened_world(browser, tmp_path, config=second) as world:
        person = Person(await world.page())
        picker = person.button("Engine and model")
        await expect_soon(picker).to_have_accessible_name(
            "Engine and model: puppet, The engine's own"
        )
        turn = await begin(world, person)
        assert turn.request.get("model") is None
        await finish(person, turn)

        await picker.click()
        await person.page.get_by_role("textbox", name="Model").fill("small-1")
        await person.page.keyboard.press("Enter")
        turn = await begin(world, person, "Small?", "Yes")
        assert turn.request["model"] == "small-1"
        await finish(person, turn)

        await person.page.reload()
        await expect_soon(picker).to_have_accessible_name("Engine and model: puppet, small-1")
        await picker.click()
        await person.page.keyboard.press("Escape")
        await expect_soon(person.page.get_by_role("dialog")).to_have_count(0)
        await picker.click()
        await person.page.get_by_role("radio", name="second").check()
        await person.page.get_by_role("button", name="Done").click()
        await expect_soon(picker).to_have_accessible_name(
            "Engine and model: second, The engine's own"
        )
        turn = await begin(world, person, "Second?", "No")
        assert turn.request.get("model") is None
        turn_id = await person.answer().get_attribute("data-message-id")
        conversation = await person.conversation_id()
        path = f"/v1/conversations/{conversation}/turns/{turn_id}"
        assert world.call(path)["engine"] == "second"
        await finish(person, turn)

        config = tmp_path / "blockwire.toml"
        config.write_text(
            config.read_text(encoding="utf-8").partition("[engines.second]")[0], encoding="utf-8"
        )
        world.gateway.kill()
        world.gateway.restart()
        await person.ask("Still there?")
        await expect_soon(person.page.get_by_role("alert").first).to_contain_text(
            "The engine is not there any more."
        )
        await expect_soon(person.composer).to_have_value("Still there?")
        await expect_soon(person.line).to_have_count(0)
        assert world.troubles == []


@pytest.mark.requirement("page:composer:named", "page:composer:told", "page:composer:quiet")
async def test_the_composer_is_named_told_of_and_quiet(world: World) -> None:
    person = Person(await world.page())
    turn = await begin(world, person)
    form = person.page.get_by_role("region", name="Your question")
    await person.ask("Two?")
    await expect_soon(person.line).to_contain_text(["Next"])
    await expect_soon(form.get_by_role("status").last).to_have_text("1 question waits in line")
    for control in await form.locator("button, textarea, input:not([type=file])").all():
        await expect_soon(control).to_have_accessible_name(re.compile(r"\S"))

    await form.evaluate(
        """(form) => {
          window.drawn = 0;
          new MutationObserver((records) => { window.drawn += records.length; }).observe(
            form, {subtree: true, childList: true, characterData: true, attributes: true});
        }"""
    )
    for number in range(20):
        await turn.more(f" word{number}")
    await person.sees("word19")
    assert await person.page.evaluate("window.drawn") == 0
