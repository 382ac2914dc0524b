"""What a person notices first: who answers, what was found, what is left behind, where things stand."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import pytest
from playwright.async_api import Browser, Page

from tests.page.people import Person, expect_soon
from tests.page.test_attachments import PICTURE, are_there, file, pick
from tests.page.worlds import WAIT_MS, World
from tests.support.programs import Gateway, environment

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

LYING: Final[dict[str, Any]] = {
    "viewport": {"width": 844, "height": 390},
    "is_mobile": True,
    "has_touch": True,
}
DAYS_3_S: Final = 259_200
RECORDED: Final = "Recorded answers play here, whatever you ask."

# How far a question stands below the upper edge of the transcript.
OFFSET: Final = """(article) =>
  article.getBoundingClientRect().top
  - document.querySelector("[data-testid=transcript]").getBoundingClientRect().top"""
# A machine that has much to do: keys come faster than frames.
SLOW_FRAMES: Final = """
  window.requestAnimationFrame = (call) => setTimeout(() => call(performance.now()), 400);
"""
# The first message whose beginning is seen.
FIRST_SEEN: Final = """(region) => {
  const top = region.getBoundingClientRect().top;
  return [...region.querySelectorAll("article")]
    .find((article) => article.getBoundingClientRect().top > top).dataset.messageId;
}"""
# Where the words of an element begin, behind its left edge.
WORDS_FROM: Final = """(element) => {
  const range = document.createRange();
  range.selectNodeContents(element);
  return range.getBoundingClientRect().left - element.getBoundingClientRect().left;
}"""
# Whether nothing lies over an element, and no edge cuts it.
IS_SEEN: Final = """(element) => {
  const at = element.getBoundingClientRect();
  return [[at.left + 2, at.top + 2], [at.right - 2, at.bottom - 2]]
    .every(([x, y]) => element.contains(document.elementFromPoint(x, y)));
}"""


@pytest.mark.requirement("page:composer:replay")
async def test_recorded_answers_are_said_to_be_recorded_and_what_to_do_about_it(
    browser: Browser, tmp_path: Path
) -> None:
    store = f"sqlite:///{tmp_path / 'store.db'}"
    with Gateway(environment(tmp_path), "--store", store, cwd=tmp_path) as gateway:
        page = await browser.new_page()
        page.set_default_timeout(WAIT_MS)
        await page.goto(gateway.url)
        note = page.locator(".co-replay")
        await expect_soon(note).to_contain_text(RECORDED)
        await expect_soon(note.locator("code").first).to_have_text(
            "blockwire serve --engine openai"
        )
        await Person(page).ask("What is a Bloom filter?")
        await page.wait_for_url("**/c/*")
        await expect_soon(note).to_have_text(RECORDED)
        await page.close()


@pytest.mark.requirement("page:composer:replay")
async def test_nothing_is_said_of_recordings_where_none_answers(world: World) -> None:
    page = await world.page()
    person = Person(page)
    await expect_soon(person.composer).to_be_visible()
    await expect_soon(page.locator(".co-replay")).to_have_count(0)

    await page.get_by_role("button", name="Engine and model").click()
    await page.get_by_role("radio", name="replay").check()
    await expect_soon(page.locator(".co-replay")).to_contain_text("Choose another engine")


async def test_the_choice_of_an_engine_is_seen_whole_in_a_low_window(world: World) -> None:
    page = await world.page(**LYING)
    await page.get_by_role("button", name="Engine and model").tap()
    panel = page.get_by_role("dialog", name="Engine and model")
    await expect_soon(panel).to_be_visible()
    box = await panel.bounding_box()
    assert box is not None
    assert box["y"] >= 0
    assert box["y"] + box["height"] <= 390
    assert await panel.get_by_text("Engine", exact=True).evaluate(IS_SEEN)
    await panel.get_by_role("radio", name="external").check()
    await page.keyboard.press("Escape")
    await expect_soon(panel).to_have_count(0)
    await expect_soon(page.get_by_role("button", name="external")).to_be_focused()


@pytest.mark.requirement("page:shell:snippets-read")
async def test_what_was_found_is_read_and_not_spelt(world: World) -> None:
    world.conversation(
        {
            "role": "assistant",
            "content": [
                {
                    "type": "prose",
                    "markdown": "A **Bloom filter** answers [one question](https://example.org/a)"
                    " about a set.\n\n- `yes`\n- no",
                },
                {"type": "code", "language": "python", "text": "filter(a ** b, **kwargs)"},
            ],
        },
        title="Sets",
    )
    page = await world.page()
    await page.get_by_test_id("search-input").fill("filter")
    found = page.locator(".sh-snippet")
    await expect_soon(found).to_have_count(2)
    texts = sorted(await found.all_inner_texts())
    assert texts == [
        "A Bloom filter answers one question about a set. yes · no",
        "filter(a ** b, **kwargs)",
    ]
    await expect_soon(found.locator("mark")).to_have_text(["filter", "filter"])


@pytest.mark.requirement("page:composer:left-behind")
async def test_files_of_a_question_that_was_never_asked_leave_nothing_in_the_list(
    world: World,
) -> None:
    person = Person(await world.page())
    await pick(person, file("dot.png", "image/png", PICTURE))
    await are_there(person, "dot.png")
    [left] = world.call("/v1/conversations")["items"]
    # The tab is closed for good; what it kept goes with it.
    await person.page.context.close()
    asked = world.conversation(
        {"role": "user", "content": [{"type": "prose", "markdown": "Hello"}]},
        title="Asked",
        metadata={"page_draft": "another"},
    )

    again = await world.page()
    rows = again.get_by_test_id("conversation-list").locator("[data-conversation-id]")
    await expect_soon(rows).to_have_count(1)
    await expect_soon(rows).to_have_attribute("data-conversation-id", asked)
    await expect_soon(again.locator(".sh-recent-link")).to_have_count(1)
    ids = [item["id"] for item in world.call("/v1/conversations")["items"]]
    assert ids == [asked, left["id"]], "it is young: another tab may still ask in it"

    later = await (await world.person()).new_page()
    made_at: int = left["created_at"]
    await later.clock.install(time=made_at / 1000 + DAYS_3_S)
    async with later.expect_response(lambda answer: answer.request.method == "DELETE") as deleted:
        await later.goto(world.url)
    assert (await deleted.value).url.endswith(left["id"])
    ids = [item["id"] for item in world.call("/v1/conversations")["items"]]
    assert ids == [asked]


@pytest.mark.requirement("page:shell:settings")
async def test_formulas_are_set_at_once_and_the_place_stays(world: World) -> None:
    messages = [
        {
            "role": role,
            "content": [{"type": "prose", "markdown": f"Number {number}: $a^2 + {number}$. " * 20}],
        }
        for number in range(20)
        for role in ("user", "assistant")
    ]
    conversation = world.conversation(*messages)
    page = await world.page(f"/c/{conversation}")
    person = Person(page)
    await expect_soon(person.transcript).to_contain_text("Number 19: $a^2 + 19$")
    await page.mouse.move(700, 300)
    await page.mouse.wheel(0, -2000)
    await expect_soon(page.get_by_role("button", name="Jump to the end")).to_be_visible()
    seen = await page.get_by_test_id("transcript").evaluate(FIRST_SEEN)
    middle = page.locator(f'[data-message-id="{seen}"]')
    before = await middle.evaluate(OFFSET)

    await set_formulas(page, True)
    await expect_soon(middle.locator("math").first).to_be_visible()
    await stands_at(middle, before)

    await set_formulas(page, False)
    await expect_soon(middle).to_contain_text("$a^2 + ")
    await expect_soon(person.transcript.locator("math")).to_have_count(0)
    await stands_at(middle, before)


async def test_a_title_from_right_to_left_stands_beside_the_way_to_the_list(world: World) -> None:
    page = await world.page(f"/c/{world.conversation(title='مرحبا بالعالم')}")
    title = page.locator(".sh-title")
    await expect_soon(title).to_have_text("مرحبا بالعالم")
    assert await title.evaluate(WORDS_FROM) < 20


async def test_keys_after_the_shortcut_are_of_the_query(world: World) -> None:
    context = await world.person()
    await context.add_init_script(SLOW_FRAMES)
    page = await context.new_page()
    await page.goto(world.url)
    await Person(page).composer.focus()
    await page.keyboard.press("Control+k")
    await page.keyboard.type("bloom")
    await expect_soon(page.get_by_test_id("search-input")).to_have_value("bloom")
    await expect_soon(Person(page).composer).to_have_value("")


@pytest.mark.requirement("page:shell:focus-kept")
async def test_the_focus_does_not_go_with_what_goes(world: World) -> None:
    for title in ("Older", "Newer"):
        world.conversation(title=title)
    page = await world.page()
    person = Person(page)
    rows = page.get_by_test_id("conversation-list").locator("[data-row]")
    await expect_soon(rows).to_have_count(2)
    await rows.first.focus()
    await page.keyboard.press("Delete")
    await page.get_by_role("alertdialog").get_by_role("button", name="Delete").press("Enter")
    await expect_soon(rows).to_have_count(1)
    await expect_soon(rows).to_be_focused()

    await pick(person, file("dot.png", "image/png", PICTURE))
    await are_there(person, "dot.png")
    await person.button("Remove dot.png").press("Enter")
    await expect_soon(person.composer).to_be_focused()

    await person.ask("One")
    turn = await world.agent.turn()
    await person.ask("Two")
    await expect_soon(person.line).to_have_count(1)
    await person.button("Take back: Two").press("Enter")
    await expect_soon(person.composer).to_have_value("Two")
    await expect_soon(person.composer).to_be_focused()

    await turn.prose("Now")
    await page.get_by_test_id("stop").press("Enter")
    await person.sees_end("cancelled")
    await expect_soon(person.composer).to_be_focused()

    await person.ask("May I?")
    turn = await world.agent.turn()
    asked = {"id": "r1", "kind": "approval", "prompt": "Go on?"}
    await turn.say({"type": "turn.suspended", "request": asked})
    await expect_soon(person.button("Approve")).to_be_enabled()
    await person.button("Approve").press("Enter")
    assert (await turn.answer())["answer"] is True
    await turn.prose("Gone on.")
    await person.sees("Gone on.")
    await expect_soon(person.button("Approve")).to_have_count(0)
    await expect_soon(person.answer()).to_be_focused()
    await turn.complete()
    await turn.end()
    await person.sees_end()


async def set_formulas(page: Page, is_on: bool) -> None:
    """Change the setting, in its dialog."""
    await page.keyboard.press("Control+,")
    await page.get_by_role("checkbox", name="Set formulas").set_checked(is_on)
    await page.keyboard.press("Escape")
    await expect_soon(page.get_by_role("dialog")).to_have_count(0)


async def stands_at(article: Any, offset: float) -> None:
    """Wait until a message stands where it stood, but for a line."""
    await expect_soon(article).to_be_in_viewport()
    assert await article.evaluate(OFFSET) == pytest.approx(offset, abs=30)
