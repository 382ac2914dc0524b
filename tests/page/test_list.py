"""The list of conversations and its search: whole, fresh, by keyboard, and never showing what is not so."""

from __future__ import annotations

from typing import Final

import anyio
import pytest
from playwright.async_api import Locator, Page, Response

from tests.page.frame import (
    HIDDEN,
    LIST,
    SEARCH,
    Asked,
    hide,
    hold_answer,
    kept_ids,
    listed,
    look,
    row,
    said,
    shown_ids,
    still,
    toast,
)
from tests.page.people import Person, expect_soon
from tests.page.worlds import World
from tests.support.programs import WAIT_S

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]


@pytest.mark.requirement("page:shell:list-whole", "page:shell:list-poll")
async def test_the_list_is_whole_whatever_comes_and_goes_and_is_asked_for_by_etag(
    world: World,
) -> None:
    made = [world.conversation(title=f"Number {number}") for number in range(120)]
    context = await world.person()
    await context.add_init_script(f"{HIDDEN} window.isHidden = false;")
    page = await context.new_page()
    await page.clock.install()
    asked = Asked(page, "/v1/conversations")
    await page.goto(world.url)
    await expect_soon(listed(page)).to_have_count(50)
    assert await shown_ids(page) == made[:-51:-1]

    # Between two pages something goes and something comes.
    for gone in (made[119], made[75], made[30]):
        world.call(f"/v1/conversations/{gone}", method="DELETE")
    world.conversation(title="Newer")
    for least in (90, 110):
        await listed(page).last.scroll_into_view_if_needed()
        await expect_soon(listed(page).nth(least)).to_be_attached()
    await read_all(world, page, made[0], "Oldest")
    await expect_soon(listed(page)).to_have_count(118)
    assert await shown_ids(page) == kept_ids(world)

    await still(page)
    # What the clock asked for on its way here stands in line before this.
    await read_all(world, page, made[0], "Oldest of all")
    before = asked.count
    async with page.expect_response(is_first_page) as answered:
        await page.clock.run_for(10_000)
    answer = await answered.value
    assert answer.status == 304
    assert answer.request.headers["if-none-match"]
    assert asked.count == before + 1
    await hide(page, True)
    await page.clock.run_for(60_000)
    assert asked.count == before + 1
    async with page.expect_response(is_first_page):
        await hide(page, False)


async def read_all(world: World, page: Page, oldest_id: str, title: str) -> None:
    """Let the page read the whole list again; returns when it has, and so asks for nothing any more."""
    path = f"/v1/conversations/{oldest_id}"
    world.call(path, method="PATCH", body={"title": title})
    await look(page)
    await expect_soon(row(page, oldest_id).locator(".sh-row-title")).to_have_text(title)


def is_first_page(response: Response) -> bool:
    """Return whether the list begins with an answer."""
    return "/v1/conversations?" in response.url and "cursor=" not in response.url


@pytest.mark.requirement("page:shell:list-tabs", "page:shell:delete", "page:shell:rename")
async def test_a_change_is_seen_in_every_tab_and_a_deletion_is_asked_for(world: World) -> None:
    first = world.conversation(*said("One."), title="One")
    second = world.conversation(*said("Two."), title="Two")
    context = await world.person()
    other = await context.new_page()
    await other.add_init_script(HIDDEN)
    await other.goto(world.url)
    await expect_soon(listed(other)).to_have_count(2)
    page = await context.new_page()
    await page.goto(f"{world.url}/c/{first}")
    await expect_soon(row(page, first)).to_contain_text("One")

    await row(page, first).press("F2")
    field = page.get_by_role("textbox", name="Title")
    await expect_soon(field).to_be_focused()
    await field.fill("Not this")
    await field.press("Escape")
    await expect_soon(row(page, first)).to_contain_text("One")
    await row(page, first).press("F2")
    await field.fill("Uno")
    await field.press("Enter")
    await expect_soon(row(page, first)).to_be_focused()
    for tab in (page, other):
        await expect_soon(row(tab, first)).to_contain_text("Uno")
    await expect_soon(page).to_have_title("Uno – blockwire")
    await row(page, first).press("F2")
    await field.fill("Un")
    await Person(page).composer.click()
    for tab in (page, other):
        await expect_soon(row(tab, first).locator(".sh-row-title")).to_have_text("Un")
    assert world.call(f"/v1/conversations/{first}")["title"] == "Un"

    # An answer to a question from before it does not undo a change.
    world.conversation(title="Three")
    given, go = await hold_answer(page, LIST)
    await look(page)
    with anyio.fail_after(WAIT_S):
        await given.wait()
    await row(page, first).press("Delete")
    asked = page.get_by_role("alertdialog")
    await expect_soon(asked).to_contain_text("“Un”")
    await expect_soon(asked).to_contain_text("cannot be brought back")
    await page.keyboard.press("Escape")
    await expect_soon(asked).to_have_count(0)
    await expect_soon(row(page, first)).to_be_focused()
    await row(page, first).press("Delete")
    await asked.get_by_role("button", name="Delete").click()
    for tab in (page, other):
        await expect_soon(row(tab, first)).to_have_count(0)
    await page.evaluate(
        """(id) => {
          window.wasBack = false;
          const look = () => { wasBack ||= document.querySelector(`nav [data-conversation-id="${id}"]`) !== null; };
          new MutationObserver(look).observe(document.body, { childList: true, subtree: true });
        }""",
        first,
    )
    go.set()
    await look(page)
    await expect_soon(row(page, second)).to_have_count(1)
    await expect_soon(listed(page)).to_have_count(2)
    await expect_soon(row(page, first)).to_have_count(0)
    assert not await page.evaluate("() => window.wasBack")
    await expect_soon(page).to_have_url(f"{world.url}/")


@pytest.mark.requirement("page:shell:list-marks")
async def test_what_runs_waits_or_stands_in_line_is_marked_in_words(world: World) -> None:
    other = world.conversation(title="Elsewhere")
    person = Person(await world.page())
    await person.ask("Do it.")
    turn = await world.agent.turn()
    await turn.prose("Well ")
    await person.sees("Well")
    mine = row(person.page, await person.conversation_id())
    await expect_soon(mine).to_contain_text("answering")
    await person.ask("And then?")
    await expect_soon(person.line).to_contain_text(["Next"])
    await look(person.page)
    await expect_soon(mine).to_contain_text("1 question in line")
    request = {"id": "r1", "kind": "approval", "prompt": "Delete 3 files?"}
    await turn.say({"type": "turn.suspended", "request": request})
    await expect_soon(mine).to_contain_text("waits for you")

    # Also of a conversation that is not open, whose stream nobody reads.
    await person.page.clock.install()
    await person.page.goto(f"{world.url}/c/{other}")
    await expect_soon(mine).to_contain_text("answering")
    for _ in range(3):
        async with person.page.expect_response(LIST):
            await person.page.clock.fast_forward(10_000)
    await expect_soon(mine).to_contain_text("waits for you")


@pytest.mark.requirement("page:shell:list-keys")
async def test_the_list_is_used_with_the_keyboard(world: World) -> None:
    ids = [world.conversation(*said("Yes."), title=f"Number {number}") for number in range(3)]
    ids.reverse()
    page = await world.page()
    await expect_soon(listed(page)).to_have_count(3)
    await page.get_by_test_id("search-input").focus()
    for key, at in (("ArrowDown", 0), ("ArrowDown", 1), ("End", 2), ("ArrowUp", 1), ("Home", 0)):
        await page.keyboard.press(key)
        await expect_soon(row(page, ids[at])).to_be_focused()
    await page.keyboard.press("ArrowUp")
    await expect_soon(page.get_by_test_id("search-input")).to_be_focused()
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("ArrowDown")
    await page.keyboard.press("Enter")
    await expect_soon(page).to_have_url(f"{world.url}/c/{ids[1]}")
    await expect_soon(row(page, ids[1])).to_be_focused()
    await expect_soon(row(page, ids[1])).to_have_attribute("aria-current", "page")
    await page.keyboard.press("Alt+ArrowDown")
    await expect_soon(page).to_have_url(f"{world.url}/c/{ids[2]}")
    await page.keyboard.press("F2")
    await expect_soon(page.get_by_role("textbox", name="Title")).to_be_focused()
    await page.keyboard.press("Escape")
    await expect_soon(row(page, ids[1])).to_be_focused()
    await page.keyboard.press("Delete")
    await expect_soon(page.get_by_role("alertdialog")).to_be_visible()


HOSTILE: Final = "before \u202e<img src=x onerror=alert(1)>\u0007 kraken &amp; more"
FAR: Final = [f"Line {number}." for number in range(60)]


@pytest.mark.requirement("page:shell:search", "page:shell:search-order", "page:shell:search-empty")
async def test_titles_are_found_at_every_key_and_words_after_a_pause(world: World) -> None:
    target = world.conversation(*said("kraken"), title="Crème BRÛLÉE")
    world.conversation(*said("京都と東京都の話"), title="Cities")
    page = await (await world.person()).new_page()
    await page.clock.install()
    asked = Asked(page, "/v1/search")
    await page.goto(world.url)
    await expect_soon(listed(page)).to_have_count(2)
    await still(page)
    box = page.get_by_test_id("search-input")
    results = page.get_by_test_id("search-results")

    await box.press_sequentially("creme br")
    await expect_soon(results.locator("a[data-row]")).to_have_count(1)
    await expect_soon(row(page, target)).to_have_count(1)
    await page.clock.run_for(199)
    assert asked.count == 0
    async with page.expect_response(SEARCH):
        await page.clock.run_for(1)
    assert asked.count == 1

    # Of two questions that are asked, the answer to the first comes last.
    given, go = await hold_answer(page, "**/v1/search?q=kraken*")
    await box.fill("kraken")
    await page.clock.run_for(200)
    with anyio.fail_after(WAIT_S):
        await given.wait()
    await box.fill("東京")
    await page.clock.run_for(200)
    found = results.locator("a.sh-hit mark")
    await expect_soon(found).to_have_text("東京")
    async with page.expect_request_finished(lambda request: "q=kraken" in request.url):
        go.set()
    await expect_soon(found).to_have_text("東京")

    await box.fill("nowhere-at-all")
    await page.clock.run_for(200)
    await expect_soon(results).to_contain_text("Nothing was found for “nowhere-at-all”.")
    await page.keyboard.press("Escape")
    await expect_soon(listed(page)).to_have_count(2)


def place_61(page: Page) -> Locator:
    """Return the block in the transcript; what was found has its id, too."""
    return page.get_by_test_id("transcript").locator('[data-block-id="block_61"]')


@pytest.mark.requirement("page:shell:snippets", "page:shell:search-opens", "page:shell:addresses")
async def test_what_was_found_is_shown_as_text_and_opens_at_its_place(world: World) -> None:
    target = world.conversation(*said(*FAR, HOSTILE, *FAR), title="<b>Deep</b>")
    page = await world.page()
    await page.get_by_test_id("search-input").fill("kraken")
    hits = page.get_by_test_id("search-results").locator("a.sh-hit")
    await expect_soon(hits.locator("mark")).to_have_text("kraken")
    shown = await hits.locator(".sh-snippet").inner_text()
    assert "<img src=x onerror=alert(1)>" in shown
    assert "\u202e" not in shown
    assert "\u0007" not in shown
    assert await hits.locator(".sh-snippet *:not(mark)").count() == 0
    await expect_soon(page.locator(".sh-found-title")).to_have_text("<b>Deep</b>")
    await hits.click()
    await expect_soon(page).to_have_url(f"{world.url}/c/{target}#msg_2/block_61")
    await expect_soon(place_61(page)).to_be_in_viewport()

    # The address alone leads there, too, and so does that of a block without its message.
    for place in ("msg_2/block_61", "block_61"):
        await page.goto("about:blank")
        await page.goto(f"{world.url}/c/{target}#{place}")
        await expect_soon(place_61(page)).to_be_in_viewport()
    await page.goto(f"{world.url}/c/{target}#block_none")
    await expect_soon(toast(page, "was not found")).to_be_visible()


@pytest.mark.requirement("page:shell:tags")
async def test_tags_keep_conversations_together(world: World) -> None:
    first = world.conversation(title="First")
    world.conversation(title="Second", tags=["old"])
    page = await world.page(f"/c/{first}")
    await expect_soon(listed(page)).to_have_count(2)
    await page.get_by_role("button", name="Conversation menu").click()
    await page.get_by_role("menuitem", name="Tags").click()
    dialog = page.get_by_role("dialog")
    wanted = [f"tag {number}" for number in range(12)]
    await dialog.get_by_role("combobox", name="Add a tag").fill(", ".join(["old", *wanted]))
    await page.keyboard.press("Enter")
    await expect_soon(dialog.locator(".sh-chip")).to_have_count(13)
    await dialog.get_by_role("button", name="Remove the tag tag 3").click()
    await expect_soon(dialog.locator(".sh-chip")).to_have_count(12)
    await dialog.get_by_role("button", name="Done").click()
    wanted.remove("tag 3")
    assert world.call(f"/v1/conversations/{first}")["tags"] == ["old", *wanted]

    choice = page.get_by_role("group", name="Filter by tag")
    await choice.get_by_role("button", name="More").click()
    await choice.get_by_role("button", name="tag 7").click()
    await expect_soon(listed(page)).to_have_count(1)
    await choice.get_by_role("button", name="tag 7").click()
    await choice.get_by_role("button", name="old").click()
    await expect_soon(listed(page)).to_have_count(2)


CANARY: Final = "canary-2b71-private"


@pytest.mark.requirement("page:shell:fork", "page:shell:export")
async def test_a_conversation_is_forked_and_exported(world: World) -> None:
    question, answer = said("The answer.")
    thought = {"id": "block_0", "type": "reasoning", "text": CANARY}
    answer["content"].insert(0, thought)
    first = world.conversation(question, answer, title="Coins / ツ")
    page = await world.page(f"/c/{first}")
    person = Person(page)
    await person.sees("The answer.")
    menu = page.get_by_role("button", name="Conversation menu")
    for entry, ending, is_public in (
        ("Markdown", "md", True),
        ("Web page (HTML)", "html", True),
        ("Plain text", "txt", True),
        ("Messages (JSON)", "json", False),
        ("Archive (to import again)", "jsonl", False),
    ):
        await menu.click()
        async with page.expect_download() as coming:
            await page.get_by_role("menuitem", name=entry).click()
        download = await coming.value
        assert download.suggested_filename.rpartition(".")[2] == ending
        text = (await anyio.Path(await download.path()).read_bytes()).decode()
        assert "The answer." in text
        assert (CANARY not in text) == is_public

    await menu.click()
    await page.get_by_role("menuitem", name="Fork the whole conversation").click()
    await expect_soon(toast(page, "This is the fork.")).to_be_visible()
    await person.sees("The answer.")
    second = await person.conversation_id()
    assert second != first
    await expect_soon(listed(page)).to_have_count(2)
    await expect_soon(row(page, second)).to_have_attribute("aria-current", "page")
    assert len(world.call(f"/v1/conversations/{first}/messages")["items"]) == 2
