"""Logging in and out: what a person is told, and that nothing is lost by the one or kept after the other."""

from __future__ import annotations

from typing import Final

import pytest
from playwright.async_api import Page

from tests.page.frame import HIDDEN, listed, look, row, said, toast
from tests.page.people import Person, expect_soon
from tests.page.test_secrets import everything_in, log_in, tokens
from tests.page.worlds import World

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

SECRET: Final = "A word that is nobody else's business."


async def tries(page: Page, token: str) -> None:
    """Try a token, whether it is any good or not."""
    await page.get_by_test_id("token").fill(token)
    await page.get_by_role("button", name="Log in").click()


def taken_back(world: World, admin: str, name: str) -> None:
    """Take a token back, and the logins that came of it."""
    key = {"authorization": f"Bearer {admin}"}
    world.call(f"/v1/tokens/{name}", method="DELETE", headers=key)


@pytest.mark.requirement("page:login:refused")
async def test_why_a_login_failed_is_told_apart(world: World) -> None:
    admin, _writer, _reader = tokens(world)
    page = await world.page()
    await page.get_by_role("button", name="Log in").click()
    problem = page.get_by_role("alert")
    await expect_soon(problem).to_contain_text("Paste the token first.")
    await tries(page, "bw_nothing")
    await expect_soon(problem).to_contain_text("not known here")
    await expect_soon(page.get_by_test_id("token")).to_have_value("")
    await expect_soon(page.get_by_test_id("token")).to_be_focused()

    world.network.cut()
    await tries(page, admin)
    await expect_soon(problem).to_contain_text("cannot be reached")
    # It may be right.
    await expect_soon(page.get_by_test_id("token")).to_have_value(admin)
    world.network.mend()

    while "Too many logins failed." not in (await problem.all_inner_texts() or [""])[0]:
        await tries(page, "bw_nothing")
        await expect_soon(page.get_by_role("button", name="Log in")).to_be_enabled()
    told = await problem.inner_text()
    assert "Try again in" in told
    assert "second" in told


@pytest.mark.requirement("page:login:again")
async def test_a_login_that_ends_is_asked_for_above_what_stays(world: World) -> None:
    admin, writer, _reader = tokens(world)
    page = await world.page()
    person = Person(page)
    await log_in(page, writer)
    await person.ask("Count.")
    turn = await world.agent.turn()
    await turn.prose("one ")
    await person.sees("one")
    await person.composer.fill(SECRET)

    taken_back(world, admin, "writer")
    await look(page)
    again = page.get_by_role("dialog")
    await expect_soon(again).to_contain_text("Log in again")
    await expect_soon(person.answer()).to_contain_text("one")
    await expect_soon(person.composer).to_have_value(SECRET)
    await turn.more("two ")
    await tries(page, "bw_nothing")
    await expect_soon(again.get_by_role("alert")).to_contain_text("not known here")
    # Who closes it is told where it is.
    await page.keyboard.press("Escape")
    await page.get_by_role("alert").get_by_role("button", name="Log in").click()
    await log_in(page, admin)

    await expect_soon(again).to_have_count(0)
    await expect_soon(person.composer).to_have_value(SECRET)
    await person.sees("two")
    await expect_soon(person.connection).to_have_attribute("data-status", "live")
    await turn.more("three")
    await person.sees("three")
    await turn.complete()
    await turn.end()
    await person.sees_end()
    await expect_soon(person.messages("user")).to_have_count(1)


@pytest.mark.requirement("page:login:out")
async def test_a_logout_clears_every_tab(world: World) -> None:
    admin, _writer, _reader = tokens(world)
    key = {"authorization": f"Bearer {admin}"}
    made = world.call("/v1/conversations", method="POST", headers=key, body={"title": "Mine"})
    conversation = made["id"]
    for message in said(*[SECRET] * 80):
        path = f"/v1/conversations/{conversation}/messages"
        world.call(path, method="POST", headers=key, body=message)
    context = await world.person()
    page = await context.new_page()
    await page.goto(world.url)
    await log_in(page, admin)
    other = await context.new_page()
    await other.add_init_script(HIDDEN)
    for tab in (page, other):
        await tab.goto(f"{world.url}/c/{conversation}")
        person = Person(tab)
        await person.sees(SECRET)
        await expect_soon(listed(tab)).to_have_count(1)
        await person.composer.fill(f"Draft: {SECRET}")
    await page.get_by_test_id("search-input").fill("nobody")
    await expect_soon(page.get_by_test_id("search-results")).to_contain_text("business")

    world.network.cut()
    await page.keyboard.press("Control+,")
    await page.get_by_role("button", name="Log out").click()
    await expect_soon(toast(page, "You are still logged in.")).to_be_visible()
    await expect_soon(Person(page).composer).to_have_value(f"Draft: {SECRET}")
    world.network.mend()
    await page.keyboard.press("Control+,")
    await page.get_by_role("button", name="Log out").click()

    for tab in (page, other):
        await expect_soon(tab.get_by_test_id("token")).to_be_visible()
        await expect_soon(tab).to_have_url(f"{world.url}/")
        await expect_soon(tab).to_have_title("blockwire")
        held = await everything_in(tab)
        for word in ("business", "Mine", "msg_2", conversation):
            assert word not in held
    assert await context.cookies() == []
    await log_in(other, admin)
    await expect_soon(Person(page).composer).to_have_value("")
    await expect_soon(row(page, conversation)).to_contain_text("Mine")
