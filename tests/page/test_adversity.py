"""What becomes of the page when something else answers than its gateway, or too little of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import pytest

from tests.page.faults import FaultyProxy, html, plain_answer, refusal
from tests.page.people import Person, expect_soon
from tests.page.worlds import World

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

SUBMIT: Final = r"POST /v1/conversations/[^/]+/turns$"
CREATE: Final = r"POST /v1/conversations$"
WHO: Final = r"GET /v1/capabilities"

# What may come instead of an answer, and nobody knows whether the request arrived.
DOUBTFUL: Final = {
    "nothing": b"",
    "a page of the network": html(),
    "a page of a proxy": html("502 Bad Gateway"),
    "an empty answer": plain_answer("202 Accepted", b""),
    "half of an answer": plain_answer("202 Accepted", b'{"id":"turn_01'),
    "a failure": plain_answer("500 Internal Server Error", b"oops", kind="text/plain"),
}


@pytest.fixture
def proxy(world: World) -> Iterator[FaultyProxy]:
    """A proxy behind the network of the world, which does what it should until told otherwise."""
    proxy = FaultyProxy(world.gateway.port)
    world.network._target = proxy.port
    yield proxy
    proxy.close()


async def asked_once(world: World, person: Person, text: str) -> None:
    """Answer a turn, and expect that the question is there once, and no other one follows."""
    turn = await world.agent.turn()
    await turn.prose("Yes.")
    await turn.complete()
    await turn.end()
    await person.sees_end()
    await expect_soon(person.messages("user")).to_have_count(1)
    await expect_soon(person.line).to_have_count(0)
    await expect_soon(person.composer).to_have_value("")
    conversations = world.call("/v1/conversations")["items"]
    assert len(conversations) == 1
    turns = world.call(f"/v1/conversations/{conversations[0]['id']}/turns")["items"]
    assert len(turns) == 1
    assert text in str(world.call(f"/v1/conversations/{conversations[0]['id']}/messages"))


@pytest.mark.requirement("page:composer:half-answers")
@pytest.mark.parametrize("reaches", [True, False], ids=["arrived", "lost"])
@pytest.mark.parametrize("what", DOUBTFUL)
async def test_a_question_without_an_answer_is_asked_once(
    world: World, proxy: FaultyProxy, what: str, reaches: bool
) -> None:
    person = Person(await world.page())
    with proxy.fault(SUBMIT, DOUBTFUL[what], times=1, reaches=reaches):
        await person.ask("Do they pass?")
        await asked_once(world, person, "Do they pass?")


@pytest.mark.requirement("page:composer:half-answers")
@pytest.mark.parametrize("what", DOUBTFUL)
async def test_a_conversation_without_an_answer_is_made_once(
    world: World, proxy: FaultyProxy, what: str
) -> None:
    person = Person(await world.page())
    with proxy.fault(CREATE, DOUBTFUL[what], times=1, reaches=True):
        await person.ask("Do they pass?")
        await asked_once(world, person, "Do they pass?")


@pytest.mark.requirement("page:shell:asked-to-wait")
async def test_a_gateway_that_asks_to_wait_is_not_asked_before(
    world: World, proxy: FaultyProxy
) -> None:
    busy = refusal("429 Too Many Requests", "rate_limited", "Retry-After: 30")
    context = await world.person()
    page = await context.new_page()
    await page.clock.install()
    person = Person(page)
    with proxy.fault(WHO, busy) as fault:
        await page.goto(world.url)
        await expect_soon(person.button("Try now")).to_be_visible()
        await page.clock.run_for(25_000)
        assert fault.hits == 1
    await page.clock.run_for(10_000)
    await expect_soon(person.composer).to_be_visible()
    await expect_soon(page.get_by_text("What you ask is kept here.")).to_be_visible()
    with proxy.fault(r"GET /v1/conversations", busy) as fault:
        async with page.expect_response("**/v1/conversations?*"):
            await page.clock.run_for(10_000)
        await page.clock.run_for(25_000)
        assert fault.hits == 1
        assert person.page.url == f"{world.url}/"


# What the page tries again by itself, and what it takes for a mistake of whoever set up the way.
PASSING: Final = {
    "busy": refusal("503 Service Unavailable", "gateway_stopping", "Retry-After: 1"),
    "too much": refusal("429 Too Many Requests", "rate_limited"),
    "a page of a proxy": html("502 Bad Gateway"),
    "nothing": b"",
}
LASTING: Final = {
    "a page of the network": html(),
    "half of an answer": plain_answer("200 OK", b'{"protocol":'),
}


@pytest.mark.parametrize("what", [*PASSING, *LASTING])
async def test_a_first_visit_waits_for_a_gateway_that_cannot_answer(
    world: World, proxy: FaultyProxy, what: str
) -> None:
    with proxy.fault(WHO, {**PASSING, **LASTING}[what]) as fault:
        person = Person(await world.page())
        await expect_soon(person.button("Try now")).to_be_visible()
        assert fault.hits <= 6, "no busy loop"
    await expect_soon(person.composer).to_be_visible()


@pytest.mark.parametrize("what", [*PASSING, *LASTING])
async def test_a_stream_that_is_no_stream_is_tried_again(
    world: World, proxy: FaultyProxy, what: str
) -> None:
    conversation = world.conversation({"role": "user", "content": "Do they pass?"})
    with proxy.fault(r"GET /v1/events", {**PASSING, **LASTING}[what]) as fault:
        person = Person(await world.page(f"/c/{conversation}"))
        await expect_soon(person.messages("user")).to_have_count(1)
        await expect_soon(person.connection).to_have_attribute("data-status", "waiting")
        await expect_soon(person.button("Try now")).to_be_visible()
        assert fault.hits <= 6, "no busy loop"
    if what in LASTING:
        await person.button("Try now").click()
    await expect_soon(person.connection).to_have_attribute("data-status", "live")


@pytest.mark.requirement("page:shell:stand-ins")
async def test_a_network_that_asks_for_a_login_first_is_told_and_left_behind(
    world: World, proxy: FaultyProxy
) -> None:
    conversation = world.conversation({"role": "user", "content": "Do they pass?"})
    person = Person(await world.page(f"/c/{conversation}"))
    await expect_soon(person.connection).to_have_attribute("data-status", "live")
    with proxy.fault(r"GET /v1/", html()):
        world.network.cut()
        world.network.mend()
        await expect_soon(person.connection).not_to_have_attribute("data-status", "live")
        await person.page.evaluate("dispatchEvent(new Event('focus'))")
        await expect_soon(person.page.get_by_test_id("banner")).to_be_visible()
    await expect_soon(person.connection).to_have_attribute("data-status", "live")
    await expect_soon(person.page.get_by_test_id("banner")).to_have_count(0)


async def test_older_messages_that_did_not_come_can_be_asked_for_again(
    world: World, proxy: FaultyProxy
) -> None:
    conversation = world.conversation(
        *({"role": "user", "content": f"Question {number}"} for number in range(120))
    )
    with proxy.fault(r"GET /v1/conversations/[^/]+/messages", html("503 Service Unavailable")):
        person = Person(await world.page(f"/c/{conversation}"))
        await expect_soon(person.page.get_by_text("Question 119")).to_be_visible()
        await person.transcript.focus()
        await person.page.keyboard.press("Home")
        again = person.transcript.get_by_role("button", name="Try again")
        await expect_soon(again).to_be_visible()
    await again.click()
    await person.page.keyboard.press("Home")
    await expect_soon(person.transcript.get_by_text("Question 0", exact=True)).to_be_visible()


async def test_a_file_whose_upload_broke_off_is_sent_once_more(
    world: World, proxy: FaultyProxy
) -> None:
    person = Person(await world.page())
    with proxy.fault(r"POST /v1/conversations/[^/]+/attachments", times=2, reaches=True):
        file = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"words " * 50_000}
        await person.page.get_by_test_id("file-input").set_input_files(file)  # type: ignore[arg-type]
        await expect_soon(person.page.locator(".co-file")).to_have_attribute("data-stage", "done")
    await person.ask("Read it.")
    turn = await world.agent.turn()
    kinds = [block["type"] for block in turn.request["messages"][-1]["content"]]
    assert kinds == ["prose", "attachment"]
    await turn.end()
    await person.sees_end()


@pytest.mark.parametrize("answer", [b"", html("404 Not Found")], ids=["nothing", "an update"])
async def test_parts_of_the_page_that_do_not_come_leave_the_rest_working(
    world: World, proxy: FaultyProxy, answer: bytes
) -> None:
    words = "Words $x^2$\n\n```js\nlet a = 1;\n```\n\n```python\nb = 2\n```\n\nthe end"
    conversation = world.conversation({"role": "user", "content": words})
    # The first file is the page; its worker and what is loaded later are not there.
    with proxy.fault(r"GET /assets/(?!index-)", answer) as fault:
        person = Person(await world.page(f"/c/{conversation}"))
        await expect_soon(person.connection).to_have_attribute("data-status", "live")
        await expect_soon(person.messages("user")).to_contain_text("the end")
        await person.button("Settings").first.click()
        await person.page.get_by_role("dialog").get_by_role("checkbox", name="formulas").check()
        await person.page.keyboard.press("Escape")
        await expect_soon(person.messages("user")).to_contain_text("let a = 1;")
        await person.ask("And now?")
        turn = await world.agent.turn()
        await turn.prose("Now $y^2$.")
        await turn.complete()
        await turn.end()
        await person.sees("Now")
        await person.sees_end()
        assert fault.hits >= 2
