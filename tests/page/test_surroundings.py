"""What becomes of the page where its browser, its clock or its login are not as they should be."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.async_api import BrowserContext, async_playwright

from tests.page.conftest import ARGUMENTS, chromium
from tests.page.faults import FaultyProxy, refusal
from tests.page.people import Person, expect_soon
from tests.page.test_secrets import log_in
from tests.page.worlds import World, opened_world

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

HOUR_MS: Final = 3_600_000

# A clock that a test sets: `jump(ms)`.
CLOCK: Final = """
    const real = Date.now.bind(Date);
    let ahead = 0;
    Date.now = () => real() + ahead;
    self.jump = (ms) => { ahead += ms; };
"""

# As in a browser that blocks the data of sites.
FORBIDDEN: Final = """
    const deny = () => { throw new DOMException("Access is denied", "SecurityError"); };
    for (const name of ["localStorage", "sessionStorage", "indexedDB", "caches"]) {
      Object.defineProperty(self, name, { get: deny });
    }
"""

# As in a browser of some years ago.
MISSING: Final = """
    for (const name of ["BroadcastChannel", "SharedWorker"]) delete self[name];
    Object.defineProperty(navigator, "locks", { value: undefined });
"""

# The texts of an element, apart.
WORDS: Final = """(element) => {
    const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
    const found = [];
    while (texts.nextNode()) found.push(texts.currentNode.data);
    return found.join(" ");
}"""

FULL: Final = """
    const text = "x".repeat(1 << 20);
    // A page that is still empty has no storage.
    for (const store of location.origin === "null" ? [] : [localStorage, sessionStorage]) {
      for (let size = text.length; size >= 1; size >>= 1) {
        try {
          for (let i = 0; i < 99; i += 1) store.setItem(`other${size}.${i}`, text.slice(0, size));
        } catch { /* full */ }
      }
    }
"""


async def answered(world: World, person: Person, text: str) -> None:
    """Ask, answer, and see both once."""
    before = await person.messages("user").count()
    await person.ask(text)
    turn = await world.agent.turn()
    await turn.prose(f"Yes: {text}")
    await turn.complete()
    await turn.end()
    await person.sees(f"Yes: {text}")
    await person.sees_end()
    await expect_soon(person.messages("user")).to_have_count(before + 1)
    await expect_soon(person.line).to_have_count(0)


async def visit(world: World, context: BrowserContext, path: str = "/") -> Person:
    person = Person(await context.new_page())
    await person.page.goto(world.url + path)
    return person


@pytest.mark.requirement("page:composer:clock")
@pytest.mark.parametrize("jump_ms", [-HOUR_MS, 24 * HOUR_MS], ids=["back", "ahead"])
async def test_a_clock_that_is_set_holds_no_question_back(world: World, jump_ms: int) -> None:
    proxy = FaultyProxy(world.gateway.port)
    world.network._target = proxy.port
    context = await world.person()
    await context.add_init_script(CLOCK)
    person = await visit(world, context)
    busy = refusal("503 Service Unavailable", "gateway_stopping", "Retry-After: 6")
    with proxy.fault(r"POST /v1/conversations/[^/]+/turns$", busy) as fault:
        await person.ask("Is it late?")
        await expect_soon(person.button("Try now")).to_be_visible()
        assert fault.hits == 1, "what is asked to wait longer than that is not repeated at once"
        await person.page.evaluate("(ms) => jump(ms)", jump_ms)
    turn = await world.agent.turn()
    await turn.prose("No.")
    await person.sees("No.")
    await person.page.evaluate("(ms) => jump(ms)", -jump_ms)
    await turn.more(" Not yet.")
    await person.sees("Not yet.")
    await turn.complete()
    await turn.end()
    await person.sees_end()
    proxy.close()


@pytest.mark.parametrize("script", [FORBIDDEN, MISSING, FULL], ids=["forbidden", "missing", "full"])
async def test_a_browser_without_what_others_have_asks_and_reads(world: World, script: str) -> None:
    context = await world.person()
    await context.add_init_script(f"{{{script}}}")
    person = await visit(world, context)
    await answered(world, person, "First?")
    await person.composer.fill("half a question")
    await person.page.reload()
    await person.sees("Yes: First?")
    await answered(world, person, "Second?")
    await person.button("Settings").first.click()
    await person.page.get_by_role("dialog").get_by_role("radio", name="Dark").check()
    await expect_soon(person.page.locator("html")).to_have_attribute("data-theme", "dark")


def token(world: World, admin: str | None, name: str, *scopes: str) -> str:
    """Return a new token."""
    headers = {} if admin is None else {"authorization": f"Bearer {admin}"}
    body = {"name": name, "scopes": list(scopes)}
    made: Any = world.call("/v1/tokens", method="POST", body=body, headers=headers)
    return str(made["token"])


@pytest.mark.requirement("page:login:others")
async def test_a_login_with_less_is_shown_less_in_every_tab(world: World) -> None:
    conversation = world.conversation({"role": "user", "content": "Plan it."})
    admin = token(world, None, "admin", "read", "write", "reasoning", "admin")
    owner = token(world, admin, "owner", "read", "write", "reasoning")
    reader = token(world, admin, "reader", "read")
    context = await world.person()
    people = [await visit(world, context, f"/c/{conversation}") for _ in range(2)]
    await log_in(people[0].page, owner)
    await people[0].ask("Why?")
    turn = await world.agent.turn()
    secret = {"id": "r1", "type": "reasoning", "visibility": "private", "text": "the secret plan"}
    await turn.say(
        {"type": "content.block.started", "block": secret},
        {"type": "content.block.completed", "block_id": "r1"},
    )
    await turn.prose("Because.")
    for person in people:
        await person.sees("Because.")
        await expect_soon(person.blocks("reasoning")).to_have_count(1)

    revoke = {"authorization": f"Bearer {admin}"}
    world.call("/v1/tokens/owner", method="DELETE", headers=revoke)
    await people[0].composer.fill("kept words")
    field = people[0].page.get_by_test_id("token")
    await expect_soon(field).to_be_visible()
    await field.fill(reader)
    await field.press("Enter")

    for person in people:
        await expect_soon(person.page.get_by_test_id("token")).to_have_count(0)
        await expect_soon(person.blocks("reasoning")).to_have_count(0)
        await expect_soon(person.composer).to_have_count(0)
        await expect_soon(person.connection).to_have_attribute("data-status", "live")
        assert "the secret plan" not in await person.page.content()
    await turn.more(" Of course.")
    await turn.complete()
    await turn.end()
    for person in people:
        await person.sees("Of course.")


async def test_a_fast_answer_on_a_slow_machine_is_whole_and_lets_one_type(world: World) -> None:
    person = Person(await world.page())
    cdp = await person.page.context.new_cdp_session(person.page)
    await person.ask("Count.")
    turn = await world.agent.turn()
    await cdp.send("Emulation.setCPUThrottlingRate", {"rate": 6})
    await turn.prose("0 ")
    for number in range(1, 3_000):
        await turn.more(f"{number} " if number % 20 else f"{number}\n\n- ")
    await person.composer.fill("")
    await person.composer.press_sequentially("typed meanwhile")
    await turn.more("the end")
    await turn.complete()
    await turn.end()
    await person.sees("the end")
    await person.sees_end()
    await expect_soon(person.composer).to_have_value("typed meanwhile")
    conversation = await person.conversation_id()
    told = world.call(f"/v1/conversations/{conversation}/messages")["items"]
    markdown = next(item for item in told if item["role"] == "assistant")["content"][0]["markdown"]
    # What is far from the window is in the document, and not laid out: no inner text.
    shown = await person.answer().locator('[data-block-type="prose"]').evaluate(WORDS)
    assert re.findall(r"\d+", shown) == re.findall(r"\d+", markdown)


async def test_a_page_on_the_way_back_shows_nothing_after_a_logout(tmp_path: Path) -> None:
    # Playwright's own browser keeps no pages for the way back.
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium(),
            args=list(ARGUMENTS),
            ignore_default_args=["--disable-back-forward-cache"],
        )
        async with opened_world(browser, tmp_path) as world:
            await the_way_back(world)
            assert world.troubles == []
        await browser.close()


async def the_way_back(world: World) -> None:
    """Leave a page for another one, log out beside it, and go back."""
    conversation = world.conversation({"role": "user", "content": "A private question"})
    admin = token(world, None, "admin", "read", "write", "reasoning", "admin")
    context = await world.person()
    left, other = [await visit(world, context, f"/c/{conversation}") for _ in range(2)]
    await log_in(left.page, admin)
    for person in (left, other):
        await expect_soon(person.messages("user")).to_contain_text("A private question")

    await left.page.goto(f"{world.url}/openapi.json")
    await other.button("Settings").first.click()
    await other.button("Log out").click()
    await expect_soon(other.page.get_by_test_id("token")).to_be_visible()
    await left.page.go_back(wait_until="commit")
    await expect_soon(left.page.get_by_test_id("token")).to_be_visible()
    assert "A private question" not in await left.page.content()
