"""Tabs of one browser: what becomes of the others when one is closed, crashes, sleeps or logs in."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Final

import anyio
import anyio.lowlevel
import pytest
from playwright.async_api import CDPSession, Page, async_playwright

from tests.page.conftest import ARGUMENTS, chromium
from tests.page.people import Person, expect_soon
from tests.page.test_secrets import log_in, tokens
from tests.page.worlds import WAIT_MS, Turn, World, opened_world

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

# As a browser whose `fetch` gives bodies out when they are whole: `canStreamFetch` says no.
WITHOUT_STREAMS: Final = 'delete Response.prototype.body; delete self["ReadableStream"];'


@pytest.fixture
async def remembering_world(tmp_path: Path) -> AsyncIterator[World]:
    """A world whose browser keeps pages whole for the way back, which neither Playwright's nor a shell does."""
    path = chromium(is_whole=True)
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=path,
            args=list(ARGUMENTS),
            ignore_default_args=["--disable-back-forward-cache"],
        )
        async with opened_world(browser, tmp_path) as world:
            yield world
            assert world.troubles == []
        await browser.close()


async def tabs(world: World, count: int) -> list[Person]:
    """Return tabs of one person, the last one in front, that show the same conversation."""
    context = await world.person()
    people = [Person(await context.new_page()) for _ in range(count)]
    await people[0].page.goto(world.url)
    return people


async def begin(world: World, people: list[Person]) -> Turn:
    """Ask in the first tab, and show the beginning of the answer in all."""
    await people[0].ask("Count.")
    turn = await world.agent.turn()
    await turn.prose("one ")
    await people[0].sees("one")
    await people[0].conversation_id()
    for person in people[1:]:
        await person.page.goto(people[0].page.url)
        await person.sees("one")
    return turn


async def finish(turn: Turn, people: list[Person], words: str) -> None:
    """End the answer, and expect that tabs show all of it, once."""
    await turn.complete()
    await turn.end()
    for person in people:
        await person.sees_end()
        assert (await person.prose()).strip() == words
        await expect_soon(person.messages("assistant")).to_have_count(1)


async def session(page: Page) -> CDPSession:
    """Return a way to tell the browser of a page what no page can."""
    return await page.context.new_cdp_session(page)


async def test_without_streams_of_fetch_a_ticket_opens_another_one(world: World) -> None:
    context = await world.person()
    await context.add_init_script(WITHOUT_STREAMS)
    person = Person(await context.new_page())
    await person.page.goto(world.url)
    turn = await begin(world, [person])
    await turn.more("two ")
    await person.sees("two")

    world.network.cut()
    await turn.more("three ")
    await expect_soon(person.connection).not_to_have_attribute("data-status", "live")
    world.network.mend()

    await person.sees("three")
    await expect_soon(person.connection).to_have_attribute("data-status", "live")
    await turn.more("four")
    await person.sees("four")
    await finish(turn, [person], "one two three four")
    streams = [url for url in world.requests if "ticket=" in url]
    assert len(streams) >= 2, "each connection takes a ticket of its own"
    assert len(streams) == len({url.partition("ticket=")[2] for url in streams})


async def test_a_tab_that_crashes_leaves_the_others_live(world: World) -> None:
    people = await tabs(world, 3)
    turn = await begin(world, people)
    crashed = anyio.Event()
    people[0].page.on("crash", lambda _page: crashed.set())

    cdp = await session(people[0].page)
    async with anyio.create_task_group() as group:
        # It never answers: who would is gone.
        group.start_soon(cdp.send, "Page.crash")
        with anyio.fail_after(WAIT_MS / 1000):
            await crashed.wait()
        group.cancel_scope.cancel()

    await turn.more("two ")
    for person in people[1:]:
        await person.sees("two")
    await turn.more("three")
    await finish(turn, people[1:], "one two three")
    assert world.figure("blockwire_readers") == 1


async def test_a_tab_that_is_closed_leaves_the_others_live(world: World) -> None:
    people = await tabs(world, 2)
    turn = await begin(world, people)

    await people[0].page.close()
    await turn.more("two ")
    await people[1].sees("two")
    await turn.more("three")
    await finish(turn, people[1:], "one two three")


async def test_a_page_out_of_the_cache_of_the_history_goes_on(remembering_world: World) -> None:
    world = remembering_world
    (person,) = await tabs(world, 1)
    turn = await begin(world, [person])
    await person.page.evaluate(
        "addEventListener('pageshow', (e) => { self.wasKept = e.persisted })"
    )

    await person.page.goto(f"{world.url}/openapi.json")
    await turn.more("two ")
    # A page that was kept is not loaded, so that nobody may wait for it.
    await person.page.go_back(wait_until="commit")

    await person.sees("two")
    assert await person.page.evaluate("self.wasKept") is True
    await turn.more("three")
    await person.sees("three")
    await finish(turn, [person], "one two three")


async def test_tabs_that_were_put_to_sleep_in_mid_answer_go_on(world: World) -> None:
    people = await tabs(world, 2)
    turn = await begin(world, people)
    browser = people[0].page.context.browser
    assert browser is not None
    found = await (await browser.new_browser_cdp_session()).send("SystemInfo.getProcessInfo")
    pids = [one["id"] for one in found["processInfo"] if one["type"] == "renderer"]

    # All tabs and their worker. Pages that are seen cannot be frozen, and without a screen all are.
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    try:
        await turn.more("two ")
        await turn.more("three ")
        conversation = people[0].page.url.rpartition("/")[2]
        with anyio.fail_after(WAIT_MS / 1000):
            while "three" not in str(world.call(f"/v1/conversations/{conversation}/messages")):
                await anyio.lowlevel.checkpoint()
    finally:
        for pid in pids:
            os.kill(pid, signal.SIGCONT)

    for person in people:
        await person.sees("three")
    await turn.more("four")
    await finish(turn, people, "one two three four")


async def test_a_login_and_a_logout_reach_all_tabs(world: World) -> None:
    admin, _writer, _reader = tokens(world)
    people = await tabs(world, 2)
    await people[1].page.goto(world.url)
    field = people[1].page.get_by_test_id("token")
    await expect_soon(field).to_be_visible()

    await log_in(people[0].page, admin)
    await expect_soon(field).not_to_be_visible()
    turn = await begin(world, people)
    await turn.more("two")
    await finish(turn, people, "one two")

    await people[0].page.get_by_role("button", name="Settings").first.click()
    await people[0].page.get_by_role("button", name="Log out").click()
    for person in people:
        await expect_soon(person.page.get_by_test_id("token")).to_be_visible()
        await expect_soon(person.page.get_by_text("Count.")).to_have_count(0)


async def test_a_file_is_sent_and_tells_how_far_it_is(world: World) -> None:
    (person,) = await tabs(world, 1)
    page = person.page
    await page.evaluate(
        """() => {
          self.shares = [];
          new MutationObserver(() => {
            const bar = document.querySelector("progress");
            if (bar !== null) self.shares.push(bar.value);
          }).observe(document.body, { subtree: true, childList: true, attributes: true });
        }"""
    )
    cdp = await session(page)
    await cdp.send("Network.enable")
    conditions = {"offline": False, "latency": 0, "downloadThroughput": -1}
    slow = {**conditions, "uploadThroughput": 2_000_000}
    await cdp.send("Network.emulateNetworkConditions", slow)

    file = {"name": "notes.txt", "mimeType": "text/plain", "buffer": b"words " * 500_000}
    await page.get_by_test_id("file-input").set_input_files(file)  # type: ignore[arg-type]
    await expect_soon(page.locator(".co-file")).to_have_attribute("data-stage", "done")

    shares = await page.evaluate("self.shares")
    assert shares == sorted(shares)
    assert any(0 < share < 1 for share in shares)
    await person.ask("Read it.")
    turn = await world.agent.turn()
    assert "notes.txt" in str(turn.request["messages"][-1])
    await turn.prose("Read.")
    await turn.complete()
    await turn.end()
    await person.sees_end()
