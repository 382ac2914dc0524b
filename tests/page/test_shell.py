"""The frame of the page: addresses, places, messages, keys, dialogs and settings."""

from __future__ import annotations

from functools import partial
from typing import Any, Final

import anyio
import pytest
from playwright.async_api import Page, Route

from tests.page.frame import listed, look, row, said, still, toast
from tests.page.people import Person, expect_soon
from tests.page.test_reading import PHONE
from tests.page.worlds import World
from tests.support.programs import WAIT_S

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

LONG: Final = [f"Paragraph {number}. " + "word " * 60 for number in range(60)]


async def focused(page: Page) -> str:
    """Return the name of what has the focus."""
    name: str = await page.evaluate(
        "() => document.activeElement.ariaLabel || document.activeElement.textContent.trim()"
    )
    return name


@pytest.mark.requirement("page:shell:history", "page:shell:title", "page:shell:gone")
async def test_back_and_forward_lead_through_what_was_opened(world: World) -> None:
    first = world.conversation(*said("One."), title="First")
    second = world.conversation(*said("Two."), title="Second")
    context = await world.person()
    page = await context.new_page()
    await page.goto(world.url)
    person = Person(page)
    await row(page, first).click()
    await person.sees("One.")
    await expect_soon(page).to_have_title("First – blockwire")
    await row(page, second).click()
    await person.sees("Two.")
    await expect_soon(page).to_have_title("Second – blockwire")
    await page.go_back()
    await person.sees("One.")
    await expect_soon(page).to_have_title("First – blockwire")
    await page.go_back()
    await expect_soon(page).to_have_title("blockwire")
    await page.go_forward()
    await page.go_forward()
    await person.sees("Two.")
    for options in ({"modifiers": ["ControlOrMeta"]}, {"button": "middle"}):
        async with context.expect_page() as opening:
            await row(page, first).click(**options)
        other = await opening.value
        await Person(other).sees("One.")
        await other.close()
    await expect_soon(page).to_have_url(f"{world.url}/c/{second}")

    # What is not there is said, and there is a way on.
    world.call(f"/v1/conversations/{second}", method="DELETE")
    await expect_soon(page.get_by_role("main")).to_contain_text("was deleted")
    await page.get_by_role("button", name="Begin a new conversation").click()
    await expect_soon(person.composer).to_be_visible()
    for path, words in (("/c/conv_none", "not here"), (f"/c/{second}", "not here")):
        await page.goto(world.url + path)
        await expect_soon(page.get_by_role("heading", level=1)).to_contain_text(words)
        await expect_soon(page.get_by_role("button", name="Begin a new")).to_be_visible()


@pytest.mark.requirement("page:shell:place", "page:shell:place-kept")
async def test_a_conversation_stands_where_it_was_left(world: World) -> None:
    long = world.conversation(*said(*LONG), title="Long")
    other = world.conversation(*said("Other."), title="Other")
    page = await world.page()
    many = [[f"conv_{number}", "msg_1", 5] for number in range(100)]
    await page.evaluate(
        "(list) => sessionStorage.setItem('blockwire.places', JSON.stringify({ list }))", many
    )
    person = Person(page)
    await page.goto(f"{world.url}/c/{long}")
    middle = page.locator('[data-block-id="block_40"]')
    await expect_soon(page.locator('[data-block-id="block_60"]')).to_be_in_viewport()
    await person.transcript.hover()
    await page.mouse.wheel(0, -2500)
    await expect_soon(page.get_by_test_id("jump-to-end")).to_be_visible()
    await settled(page)
    before = await top(page)
    assert before is not None

    await row(page, other).click()
    await person.sees("Other.")
    await row(page, long).click()
    await page.wait_for_function(STANDS, arg=before)
    kept: Any = await page.evaluate("() => JSON.parse(sessionStorage['blockwire.places']).list")
    assert len(kept) == 100
    assert kept[-1][:2] == [long, "msg_2"]
    assert isinstance(kept[-1][2], int)
    await page.reload()
    await page.wait_for_function(STANDS, arg=before)
    await expect_soon(middle).to_be_attached()

    await page.get_by_test_id("jump-to-end").click()
    await expect_soon(page.locator('[data-block-id="block_60"]')).to_be_in_viewport()
    await row(page, other).click()
    await person.sees("Other.")
    await row(page, long).click()
    await expect_soon(page.locator('[data-block-id="block_60"]')).to_be_in_viewport()
    await expect_soon(page.get_by_test_id("jump-to-end")).to_be_hidden()


TOP: Final = """
  () => {
    // While the page is loaded there is none.
    const inside = document.querySelector('[data-testid="transcript"]');
    if (inside === null) return null;
    const edge = inside.getBoundingClientRect().top;
    for (const block of inside.querySelectorAll("[data-block-id]")) {
      const { top } = block.getBoundingClientRect();
      if (top >= edge) return [block.dataset.blockId, Math.round(top - edge)];
    }
    return null;
  }"""
STANDS: Final = f"(before) => JSON.stringify(({TOP})()) === JSON.stringify(before)"


async def top(page: Page) -> list[Any] | None:
    """Return the first block that begins in the window, and how far below the edge it does."""
    found: list[Any] | None = await page.evaluate(TOP)
    return found


async def settled(page: Page) -> None:
    """Wait until the transcript stands still."""
    await page.evaluate(
        """async () => {
          const inside = document.querySelector('[data-testid="transcript"]');
          const frame = () => new Promise((done) => requestAnimationFrame(done));
          for (let still = 0, last = -1; still < 10; ) {
            await frame();
            still = inside.scrollTop === last ? still + 1 : 0;
            last = inside.scrollTop;
          }
        }"""
    )


@pytest.mark.requirement("page:shell:failures", "page:shell:messages")
async def test_a_failure_says_what_to_do_and_stays_until_it_is_closed(world: World) -> None:
    conversation = world.conversation(*said("One."), title="One")
    page = await (await world.person()).new_page()
    await page.clock.install()
    await page.goto(f"{world.url}/c/{conversation}")
    await Person(page).sees("One.")
    for body in (
        '{"error":{"code":"store_unavailable","message":"Traceback: x","retryable":true}}',
        "Traceback (most recent call last): secret",
    ):
        answer = partial(refuse, body)
        await page.route(f"**/v1/conversations/{conversation}", answer, times=1)
        await row(page, conversation).press("F2")
        await page.get_by_role("textbox", name="Title").fill("Two")
        await page.keyboard.press("Enter")
        failure = toast(page, "The title was not changed.")
        await expect_soon(failure).to_have_count(1)
        await expect_soon(failure).to_contain_text("ry again")
        assert "Traceback" not in await page.content()
        await expect_soon(row(page, conversation)).to_contain_text("One")
        await page.clock.fast_forward(3_600_000)
        await expect_soon(failure).to_have_count(1)
        await failure.get_by_role("button", name="Close this message").click()
        await expect_soon(failure).to_have_count(0)

    await row(page, conversation).press("Delete")
    await expect_soon(page.get_by_role("alertdialog")).to_be_visible()
    await still(page)
    await page.get_by_role("alertdialog").get_by_role("button", name="Delete").click()
    await expect_soon(toast(page, "was deleted.")).to_have_count(1)
    await page.clock.run_for(5_900)
    await expect_soon(toast(page, "was deleted.")).to_have_count(1)
    await page.clock.run_for(100)
    await expect_soon(toast(page, "was deleted.")).to_have_count(0)


async def refuse(body: str, route: Route) -> None:
    """Answer for the gateway that it cannot."""
    await route.fulfill(status=503, body=body)


@pytest.mark.requirement("page:shell:guard")
async def test_a_part_that_breaks_leaves_the_others_working(world: World) -> None:
    world.conversation(title="One")
    context = await world.person()
    # Only rows of the list write a time that way.
    await context.add_init_script(
        """window.isBroken = true;
        const { DateTimeFormat } = Intl;
        Intl.DateTimeFormat = function (language, options) {
          if (isBroken && options?.dateStyle === "medium") throw new Error("broken on purpose");
          return new DateTimeFormat(language, options);
        };"""
    )
    page = await context.new_page()
    await page.goto(world.url)
    broken = page.get_by_role("alert").filter(has_text="This part of the page failed")
    await expect_soon(broken).to_have_count(1)
    assert "broken on purpose" not in await page.locator("body").inner_text()
    person = Person(page)
    await person.ask("Do you work?")
    turn = await world.agent.turn()
    await turn.prose("I do.")
    await turn.complete()
    await turn.end()
    await person.sees("I do.")
    await page.evaluate("() => { window.isBroken = false; }")
    await broken.get_by_role("button", name="Try again").click()
    await expect_soon(listed(page)).to_have_count(2)
    await expect_soon(broken).to_have_count(0)
    told = [trouble for trouble in world.troubles if "broken on purpose" in trouble]
    assert told
    world.troubles = [trouble for trouble in world.troubles if trouble not in told]


@pytest.mark.requirement("page:shell:reach", "page:shell:wake")
async def test_a_gateway_that_is_away_is_said_and_tried_again(world: World) -> None:
    conversation = world.conversation(*said("One."), title="One")
    context = await world.person()
    # Without a worker all that waits does so by the clock of the page, which stands still.
    await context.add_init_script("delete window.SharedWorker;")
    page = await context.new_page()
    await page.clock.install()
    await page.goto(f"{world.url}/c/{conversation}")
    person = Person(page)
    await expect_soon(person.connection).to_have_attribute("data-status", "live")
    await expect_soon(row(page, conversation)).to_contain_text("One")
    await still(page)
    banner = page.get_by_test_id("banner")

    # On demand, by itself, and whenever somebody or the network comes back.
    async def by_hand() -> None:
        await banner.get_by_role("button", name="Try now").click()

    async def by_itself() -> None:
        await page.clock.run_for(10_000)

    async def by_looking() -> None:
        await look(page)

    async def by_network() -> None:
        await page.evaluate("() => window.dispatchEvent(new Event('online'))")

    async def by_waking() -> None:
        await page.evaluate("() => document.dispatchEvent(new Event('resume'))")

    for attempt in (by_hand, by_itself, by_looking, by_network, by_waking):
        world.network.cut()
        await look(page)
        await expect_soon(banner).to_contain_text("The gateway cannot be reached.")
        await expect_soon(person.connection).not_to_have_attribute("data-status", "live")
        world.network.mend()
        title = f"After {attempt.__name__}"
        path = f"/v1/conversations/{conversation}"
        world.call(path, method="PATCH", body={"title": title})
        await attempt()
        await expect_soon(banner).to_have_count(0)
        await expect_soon(person.connection).to_have_attribute("data-status", "live")
        # What was asked while it was away is tried a few times, each after a pause.
        with anyio.fail_after(WAIT_S):
            while title not in await row(page, conversation).inner_text():
                await page.clock.run_for(250)


@pytest.mark.requirement("page:shell:shortcuts", "page:shell:find-twice")
async def test_keys_are_in_the_help_and_take_nothing_from_who_types(world: World) -> None:
    conversation = world.conversation(*said("One."), title="One")
    page = await world.page(f"/c/{conversation}")
    person = Person(page)
    await person.sees("One.")
    await person.composer.fill("")
    await person.composer.press_sequentially("a/b?")
    await expect_soon(person.composer).to_have_value("a/b?")
    await person.composer.fill("")
    await page.get_by_role("main").focus()
    await page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    for words in ("New conversation", "Find in conversation", "Rename", "Next message", "Home"):
        await expect_soon(dialog).to_contain_text(words)
    await page.keyboard.press("Escape")
    await expect_soon(dialog).to_have_count(0)
    await expect_soon(page.get_by_role("main")).to_be_focused()
    await page.keyboard.press("/")
    await expect_soon(person.composer).to_be_focused()
    await expect_soon(person.composer).to_have_value("")

    await page.keyboard.press("Control+,")
    await dialog.get_by_role("checkbox", name="Single keys are shortcuts").uncheck()
    await page.keyboard.press("Escape")
    await expect_soon(dialog).to_have_count(0)
    await page.get_by_role("main").focus()
    await page.keyboard.press("?")
    await page.keyboard.press("/")
    await expect_soon(page.get_by_role("main")).to_be_focused()
    await expect_soon(dialog).to_have_count(0)

    await page.evaluate(
        """() => {
          window.taken = [];
          window.addEventListener("keydown", (event) => {
            if (event.key === "f") window.taken.push(event.defaultPrevented);
          });
        }"""
    )
    await page.keyboard.press("Control+f")
    await expect_soon(page.get_by_test_id("find-input")).to_be_focused()
    await page.keyboard.press("Control+f")
    assert await page.evaluate("() => window.taken") == [True, False]
    await page.keyboard.press("Escape")
    await page.keyboard.press("Control+k")
    await expect_soon(page.get_by_test_id("search-input")).to_be_focused()
    await page.keyboard.press("Control+b")
    await expect_soon(page.get_by_test_id("search-input")).to_have_count(0)
    await page.keyboard.press("Control+b")
    await expect_soon(listed(page)).to_have_count(1)
    await page.keyboard.press("Control+Shift+O")
    await expect_soon(page).to_have_url(f"{world.url}/")


@pytest.mark.requirement("page:shell:stop")
async def test_an_answer_is_stopped_by_two_presses_only(world: World) -> None:
    page = await (await world.person()).new_page()
    await page.clock.install()
    await page.goto(world.url)
    person = Person(page)
    await person.ask("Count.")
    turn = await world.agent.turn()
    await turn.prose("one ")
    await person.sees("one")
    await page.get_by_role("main").focus()
    for _ in range(2):
        await page.keyboard.press("Escape")
        await expect_soon(toast(page, "Press Esc again")).to_have_count(1)
        await page.clock.fast_forward(3_001)
    await turn.more("two ")
    await person.sees("two")
    await still(page)
    await page.clock.run_for(3_001)
    await page.keyboard.press("Escape")
    await page.clock.run_for(1_000)
    await page.keyboard.press("Escape")
    await page.clock.resume()
    await person.sees_end("cancelled")


@pytest.mark.requirement("page:shell:dialogs")
@pytest.mark.parametrize("device", [{}, PHONE], ids=["desk", "phone"])
async def test_dialogs_and_the_drawer_keep_the_focus_and_give_it_back(
    world: World, device: dict[str, Any]
) -> None:
    conversation = world.conversation(*said("One."), title="One")
    page = await world.page(f"/c/{conversation}", **device)
    await Person(page).sees("One.")
    menu = page.get_by_role("button", name="Conversation menu")
    for entry, role in (("Tags", "dialog"), ("Share…", "dialog"), ("Delete", "alertdialog")):
        await menu.focus()
        await page.keyboard.press("Enter")
        await page.get_by_role("menuitem", name=entry).click()
        await stays_inside(page, f"dialog[open]{'' if role == 'dialog' else '[role=alertdialog]'}")
        await page.keyboard.press("Escape")
        await expect_soon(page.locator("dialog")).to_have_count(0)
        await expect_soon(menu).to_be_focused()
    if device:
        opener = page.get_by_role("button", name="Show conversations")
        await opener.focus()
        await page.keyboard.press("Enter")
        await stays_inside(page, "nav")
        await page.keyboard.press("Escape")
        await expect_soon(page.get_by_role("navigation")).to_have_count(0)
        await expect_soon(opener).to_be_focused()


async def stays_inside(page: Page, selector: str) -> None:
    """Check that Tab leads around inside of an element, whose first moment has the focus in it."""
    await expect_soon(page.locator(selector)).to_be_visible()
    await page.wait_for_function(
        "(inside) => document.activeElement.closest(inside) !== null", arg=selector
    )
    seen = set()
    for key in ["Tab"] * 25 + ["Shift+Tab"] * 25:
        await page.keyboard.press(key)
        is_inside = await page.evaluate(
            "(inside) => document.activeElement === document.body || "
            "document.activeElement.closest(inside) !== null",
            selector,
        )
        assert is_inside, await focused(page)
        seen.add(await focused(page))
    assert len(seen) > 1


@pytest.mark.requirement("page:shell:settings", "page:shell:settings-kept")
async def test_settings_are_kept_for_all_tabs_and_nothing_else_is(world: World) -> None:
    context = await world.person()
    page, other = await context.new_page(), await context.new_page()
    for tab in (page, other):
        await tab.goto(world.url)
        await expect_soon(Person(tab).composer).to_be_visible()
    await page.get_by_role("button", name="Settings").click()
    await page.get_by_role("radio", name="Dark", exact=True).check()
    await page.get_by_role("radio", name="Larger", exact=True).check()
    await page.get_by_role("checkbox", name="Enter sends").uncheck()
    for tab in (page, other):
        await expect_soon(tab.locator("html")).to_have_attribute("data-theme", "dark")
        await expect_soon(tab.locator("html")).to_have_attribute("data-text-size", "larger")
    # What one writes is nobody's setting.
    await Person(other).composer.fill("A draft that is nobody's.")
    await Person(other).composer.press("Enter")
    await expect_soon(Person(other).composer).to_have_value("A draft that is nobody's.\n")
    await Person(other).page.reload()
    await expect_soon(Person(other).composer).to_have_value("A draft that is nobody's.\n")
    kept: Any = await other.evaluate("() => ({...localStorage})")
    assert [*kept] == ["blockwire.settings"]
    assert "draft" not in str(kept)

    for damaged in ("{", "[]", '{"theme":"pink","textSize":7,"sidebar":"x"}'):
        await page.evaluate("(text) => { localStorage['blockwire.settings'] = text; }", damaged)
        await page.reload()
        await expect_soon(Person(page).composer).to_be_visible()
        assert await page.locator("html").get_attribute("data-theme") is None
        await expect_soon(page.locator("html")).to_have_attribute("data-text-size", "normal")
