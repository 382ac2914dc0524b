"""Sharing: a link is made, shown once, read by somebody without a login, and taken back."""

from __future__ import annotations

from typing import Any, Final

import pytest
from playwright.async_api import Page

from tests.page.frame import said
from tests.page.people import Person, expect_soon
from tests.page.test_secrets import everything_in, log_in, tokens
from tests.page.worlds import World

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

DAY_MS: Final = 86_400_000


async def share_dialog(page: Page) -> None:
    """Open the dialog that makes links."""
    await page.get_by_role("button", name="Conversation menu").click()
    await page.get_by_role("menuitem", name="Share…").click()


@pytest.mark.requirement("page:share:make", "page:share:once", "page:share:revoke")
async def test_a_link_is_made_for_a_time_shown_once_and_taken_back(world: World) -> None:
    conversation = world.conversation(*said("One."), title="One")
    page = await world.page(f"/c/{conversation}")
    await Person(page).sees("One.")
    await share_dialog(page)
    dialog = page.get_by_role("dialog")
    for words in ("can read", "no private reasoning", "cannot write", "No link yet."):
        await expect_soon(dialog).to_contain_text(words)
    rows = dialog.locator("[data-share-id]")
    path = f"/v1/conversations/{conversation}/shares"
    links = []
    for count, (choice, days) in enumerate(
        (("1 day", 1), ("7 days", 7), ("30 days", 30), ("No limit", None)), 1
    ):
        await dialog.get_by_role("radio", name=choice, exact=True).check()
        await dialog.get_by_role("button", name="Make a link").click()
        await expect_soon(rows).to_have_count(count)
        field = dialog.get_by_test_id("share-link")
        await expect_soon(field).to_be_focused()
        await expect_soon(field).to_have_count(1)
        links.append(await field.input_value())
        share: Any = world.call(path)["items"][-1]
        ends = share.get("expires_at")
        assert ends is None if days is None else 0 < ends - share["created_at"] <= days * DAY_MS
        assert ends is None or ends - share["created_at"] > (days or 0) * DAY_MS - 60_000 * 10
    assert len(set(links)) == 4
    await expect_soon(rows.first).to_contain_text("ends")
    await expect_soon(rows.last).to_contain_text("never ends")

    await page.keyboard.press("Escape")
    await share_dialog(page)
    await expect_soon(rows).to_have_count(4)
    await expect_soon(dialog.get_by_test_id("share-link")).to_have_count(0)
    secrets = [link.rpartition(":")[2] for link in links]
    held = await everything_in(page)
    assert not any(secret in held for secret in secrets)
    assert not any(secret in url for url in world.requests for secret in secrets)

    await rows.first.get_by_role("button", name="Revoke").click()
    await expect_soon(rows.first).to_contain_text("shown out at once")
    await rows.first.get_by_role("button", name="Cancel").click()
    assert len(world.call(path)["items"]) == 4
    await rows.first.get_by_role("button", name="Revoke").click()
    await rows.first.get_by_role("button", name="Revoke now").click()
    await expect_soon(rows).to_have_count(3)
    assert len(world.call(path)["items"]) == 3
    for _ in range(29):
        world.call(path, method="POST", body={})
    await dialog.get_by_role("button", name="Make a link").click()
    await expect_soon(dialog.get_by_role("alert")).to_contain_text("Revoke one")


@pytest.mark.requirement("page:share:secret", "page:share:read-only")
async def test_a_shared_page_is_live_and_read_only_and_asks_with_its_secret_alone(
    world: World,
) -> None:
    admin, _writer, _reader = tokens(world)
    owner = Person(await world.page())
    await log_in(owner.page, admin)
    await owner.ask("Count.")
    turn = await world.agent.turn()
    await turn.prose("one ")
    await owner.sees("one")
    await share_dialog(owner.page)
    await owner.page.get_by_role("button", name="Make a link").click()
    link = await owner.page.get_by_test_id("share-link").input_value()
    secret = link.rpartition(":")[2]

    # Also in the browser of somebody who is logged in: the link asks for nothing of theirs.
    guest = Person(await owner.page.context.new_page())
    sent: list[dict[str, str]] = []
    guest.page.on("request", lambda request: sent.append({**request.headers, ":url": request.url}))
    await guest.page.goto(link)
    await guest.sees("one")
    await expect_soon(guest.page.get_by_text("Shared, read only")).to_be_visible()
    await expect_soon(guest.composer).to_have_count(0)
    await expect_soon(guest.page.get_by_role("navigation")).to_have_count(0)
    await expect_soon(guest.page).to_have_title("Count. – blockwire")
    await turn.more("two")
    await guest.sees("two")
    await turn.complete()
    await turn.end()
    await guest.sees_end()
    for name in ("Try again", "Fork", "Approve"):
        await expect_soon(guest.page.get_by_role("button", name=name)).to_have_count(0)
    await guest.page.get_by_role("button", name="Conversation menu").click()
    for name in ("Rename", "Tags", "Share…", "Delete"):
        await expect_soon(guest.page.get_by_role("menuitem", name=name)).to_have_count(0)
    async with guest.page.expect_download() as coming:
        await guest.page.get_by_role("menuitem", name="Markdown").click()
    assert (await coming.value).suggested_filename == "Count.md"

    asked = [headers for headers in sent if "/v1/" in headers[":url"]]
    assert asked
    for headers in asked:
        assert headers.get("authorization") == f"Bearer {secret}"
        assert "/v1/conversations?" not in headers[":url"]
        rest = {name: value for name, value in headers.items() if name != "authorization"}
        assert secret not in str(rest)
    inside: str = await guest.page.evaluate(
        "() => document.documentElement.outerHTML + JSON.stringify([localStorage, sessionStorage, "
        "document.cookie, history.state, name])"
    )
    assert secret not in inside


@pytest.mark.requirement("page:share:over")
async def test_why_a_link_shows_nothing_is_told_apart(world: World) -> None:
    conversation = world.conversation(*said("One."), title="One")
    path = f"/v1/conversations/{conversation}/shares"
    first, second = (world.call(path, method="POST", body={}) for _ in range(2))
    guest = Person(await world.page(f"/#{first['fragment']}"))
    await guest.sees("One.")
    heading = guest.page.get_by_role("heading", level=1)
    world.call(f"{path}/{first['id']}", method="DELETE")
    await expect_soon(heading).to_have_text("This link does not work any more")
    await guest.page.reload()
    await expect_soon(heading).to_have_text("This link does not work any more")

    await guest.page.goto(f"{world.url}/#{second['fragment'].partition('bws_')[0]}bws_cut")
    await expect_soon(heading).to_have_text("This link is not complete")
    await guest.page.goto(f"{world.url}/#{second['fragment']}")
    await guest.sees("One.")
    world.call(f"/v1/conversations/{conversation}", method="DELETE")
    await expect_soon(heading).to_have_text("This conversation is not here any more")
    # After that nobody knows any more whose it was.
    await guest.page.reload()
    await expect_soon(heading).to_contain_text("any more")
