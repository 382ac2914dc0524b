"""A conversation as it is read: the place stays, the end is followed, what is far away costs nothing.

Positions are those of what is painted: read after layout and after what the page puts right.
"""

from __future__ import annotations

import re
import shutil
import signal
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import pytest

from tests.page.histories import WORDS, Reader, history, message, turns
from tests.page.people import Person, expect_soon
from tests.page.worlds import World

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

# Half a pixel: less is rounding, more is seen.
SAME_PX: Final = 0.5
# A scroll of the browser ends on a whole pixel, and its last one may be painted late.
SCROLLED_PX: Final = 1.0

_GROW: Final = """async ([where, heights]) => {
  const row = probe.target.closest('.tr-row');
  const into = where === 'inside' ? row : row.previousElementSibling;
  const box = document.createElement('div');
  into.querySelector('article').prepend(box);
  for (const height of heights) { box.style.height = height + 'px'; await probe.frame(3); }
}"""

# Whether what would be watched is not in the message at the top of the window.
_IS_OTHER: Final = """(probe.watch(), probe.stop(),
  probe.target.closest('article').dataset.messageId !== probe.first()[0])"""


def pages_asked(world: World) -> list[str]:
    """Return the places of the pages of messages that were asked for."""
    found = (re.search(r"/messages\?.*((?:before|after)=\d+)", url) for url in world.requests)
    return [match.group(1) for match in found if match]


def set_aside(source: Path, target: Path) -> None:
    """Let ``target`` hold the store that ``source`` holds, and nothing of another one."""
    target.mkdir(exist_ok=True)
    for path in target.glob("store.db*"):
        path.unlink()
    for path in source.glob("store.db*"):
        shutil.copy(path, target / path.name)


# the reader's place -----------------------------------------------------------------------------
@pytest.mark.requirement("page:transcript:place-below")
@pytest.mark.requirement("page:transcript:unseen")
@pytest.mark.requirement("page:transcript:follow-resume")
async def test_text_that_streams_below_moves_nothing(world: World) -> None:
    conversation = history(world, turns(12))
    reader = await Reader.at(world, f"/c/{conversation}")
    person = Person(reader.page)
    await person.ask("Say something long.")
    turn = await world.agent.turn()
    await turn.prose("It begins.\n\n" + WORDS * 20)
    await person.sees("It begins.")
    await reader.wheel(-300, 3)
    await reader.watch()
    for number in range(40):
        await turn.more(f"{WORDS}{number}" + ("\n\n" if number % 4 == 0 else " "))
    await turn.more("\n\nThe mark.\n\n")
    await expect_soon(reader.text("The mark.")).to_be_attached()

    assert await reader.moved() < SAME_PX
    await expect_soon(reader.jump).to_contain_text("New text below")

    # Down, but not to the end: it still stands.
    await reader.wheel(100)
    await reader.watch()
    await turn.more(WORDS * 10 + "\n\nAnother mark.\n\n")
    await expect_soon(reader.text("Another mark.")).to_be_attached()
    assert await reader.moved() < SAME_PX

    # To the end by the button: followed again.
    await reader.jump.click()
    await turn.more(WORDS * 10 + "\n\nThe last mark.\n\n")
    await expect_soon(reader.text("The last mark.")).to_be_in_viewport()
    await reader.rest()
    assert await reader.from_end() <= 2
    await expect_soon(reader.jump).to_be_hidden()

    # And by the wheel; two messages that came meanwhile were told.
    await reader.wheel(-400)
    await turn.complete()
    await turn.end()
    world.call(f"/v1/conversations/{conversation}/messages", method="POST",
               body={"role": "user", "content": [{"type": "prose", "markdown": "One."}]})  # fmt: skip
    await expect_soon(reader.jump).to_contain_text("1 new message")
    await reader.wheel(2000, 2)
    assert await reader.from_end() <= 2
    await expect_soon(reader.jump).to_be_hidden()


@pytest.mark.requirement("page:transcript:place-above")
@pytest.mark.requirement("page:transcript:place-width")
async def test_what_changes_above_and_another_width_move_nothing(world: World) -> None:
    reader = await Reader.at(world, f"/c/{history(world, turns(30))}")
    await reader.wheel(-500, 4)
    for where in ("another", "inside"):
        # A message whose beginning is above the window, so that what grows in it is above, too.
        while (await reader.first())[1] > -60 or await reader.page.evaluate(_IS_OTHER):
            await reader.wheel(-40)
        await reader.watch()
        await reader.page.evaluate(_GROW, [where, [10, 300, 50.5, 700.25, 0, 123]])
        assert await reader.moved(18) < SAME_PX, where


@pytest.mark.requirement("page:transcript:place-width")
@pytest.mark.requirement("page:transcript:scroll-to")
async def test_another_width_moves_nothing(world: World) -> None:
    conversation = history(world, turns(30))
    reader = await Reader.at(world, f"/c/{conversation}#say_20/say_20_b")
    await expect_soon(reader.text("Answer 20.")).to_be_in_viewport()
    await reader.rest()
    await reader.watch()
    for width in (700, 500, 390, 900, 1280):
        await reader.page.set_viewport_size({"width": width, "height": 720})
        await reader.frames(4)
    assert await reader.moved() < SAME_PX


_LINE: Final = """() => {
  const box = probe.scroller().getBoundingClientRect();
  const caret = document.caretPositionFromPoint(box.left + box.width / 2, box.top + 8);
  window.line = document.createRange();
  line.setStart(caret.offsetNode, caret.offset);
  line.setEnd(caret.offsetNode, caret.offset + 1);
  return line.getBoundingClientRect().top;
}"""


@pytest.mark.requirement("page:transcript:place-width")
async def test_another_width_leaves_the_line_that_is_read_in_a_long_paragraph(world: World) -> None:
    said = [*turns(3), message("ask", "user", "Long?"), message("long", "assistant", WORDS * 120)]
    reader = await Reader.at(world, f"/c/{history(world, said)}")
    await reader.wheel(-300, 2)
    begin = await reader.page.evaluate(_LINE)
    for width in (700, 390, 1000, 1280):
        await reader.page.set_viewport_size({"width": width, "height": 720})
        await reader.frames(4)
        top = await reader.page.evaluate("line.getBoundingClientRect().top")
        assert abs(top - begin) < SAME_PX, width


@pytest.mark.requirement("page:transcript:place-pages")
@pytest.mark.requirement("page:transcript:scroll-exact")
@pytest.mark.requirement("page:transcript:older")
@pytest.mark.requirement("page:transcript:bounded")
async def test_a_wheel_moves_the_text_by_itself_across_pages(world: World) -> None:
    conversation = history(world, turns(70))
    reader = await Reader.at(world, f"/c/{conversation}")
    asked = pages_asked(world)
    seen: dict[str, None] = {}
    errors: list[float] = []
    most = 0
    while (name := (await reader.articles())[0]) != "ask_0":
        seen[name] = None
        begin = await reader.watch()
        await reader.transcript.hover()
        await reader.page.mouse.wheel(0, -500)
        await reader.rest(6)
        end = await reader.page.evaluate(
            "(probe.stop(), probe.target.isConnected ? probe.target.getBoundingClientRect().top : null)"
        )
        if end is not None and await reader.page.evaluate("probe.scroller().scrollTop > 0"):
            errors.append(abs(end - begin - 500))
        most = max(most, len(await reader.articles()))

    assert max(errors) < SAME_PX
    assert most < 40
    cursors = pages_asked(world)
    assert len(cursors) > len(asked)
    assert len(cursors) == len(set(cursors)), "each page is asked for once"
    order = [int(name.split("_")[1]) for name in seen]
    assert order == sorted(order, reverse=True)


@pytest.mark.requirement("page:transcript:dropped")
async def test_what_is_far_away_goes_and_comes_again(world: World) -> None:
    conversation = history(world, turns(260))
    reader = await Reader.at(world, f"/c/{conversation}")
    # Without waiting for what is drawn: from page to page.
    while (await reader.articles())[0] != "ask_0":
        await reader.page.evaluate("probe.scroller().scrollTop = 0")
        await reader.rest(6)
    cursors = pages_asked(world)

    await reader.watch()
    await reader.wheel(400, 2)
    for _ in range(200):
        if (await reader.articles())[-1] == "say_259":
            break
        await reader.page.evaluate("probe.scroller().scrollTop = 1e7")
        await reader.rest(6)

    again = pages_asked(world)[len(cursors) :]
    assert (await reader.articles())[-1] == "say_259"
    assert again, "pages that were dropped are asked for again"
    assert len(again) == len({*again})
    assert len(await reader.articles()) < 40


@pytest.mark.requirement("page:transcript:place-snapshot")
async def test_a_snapshot_leaves_the_reader_at_the_same_message(
    world: World, tmp_path: Path
) -> None:
    conversation = history(world, turns(40))
    world.gateway.stop()
    kept = tmp_path / "kept"
    set_aside(tmp_path, kept)
    world.gateway.restart()
    for number in range(3):
        world.call(f"/v1/conversations/{conversation}/messages", method="POST",
                   body={"role": "user", "content": [{"type": "prose", "markdown": f"Lost {number}"}]})  # fmt: skip
    reader = await Reader.at(world, f"/c/{conversation}")
    await expect_soon(reader.text("Lost 2")).to_be_visible()
    await reader.wheel(-700, 6)
    name, top = await reader.first()
    assert name not in {"ask_39", "say_39"}

    # A store that was set back: the reader's number is ahead of the log, and the whole state another.
    world.gateway.kill()
    set_aside(kept, tmp_path)
    world.gateway.restart()
    await reader.page.evaluate("dispatchEvent(new Event('online'))")
    await expect_soon(Person(reader.page).connection).to_have_attribute("data-status", "live")
    await reader.rest()

    found, now = await reader.first()
    assert found == name
    assert abs(now - top) < SAME_PX
    await reader.jump.click()
    await expect_soon(reader.text("Answer 39.")).to_be_in_viewport()
    assert await reader.page.get_by_text("Lost 2").count() == 0


# following --------------------------------------------------------------------------------------
async def _touch(reader: Reader) -> None:
    session = await reader.page.context.new_cdp_session(reader.page)
    # It lies still before it is lifted: no text flies on.
    places = [*range(200, 500, 20), *[500] * 10]
    for kind, y in (("touchStart", 200), *(("touchMove", y) for y in places)):
        await session.send(
            "Input.dispatchTouchEvent", {"type": kind, "touchPoints": [{"x": 300, "y": y}]}
        )
        await reader.frames(1)
    await session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})


async def _wheel(reader: Reader) -> None:
    await reader.transcript.hover()
    await reader.page.mouse.wheel(0, -300)


async def _key(reader: Reader) -> None:
    await reader.transcript.focus()
    await reader.page.keyboard.press("PageUp")


async def _bar(reader: Reader) -> None:
    # What a scroll bar does: an offset, and no wheel, key or finger before it.
    await reader.page.evaluate("probe.scroller().scrollTop -= 300")


async def _select(reader: Reader) -> None:
    await reader.page.evaluate(
        """() => {
          const all = [...document.querySelectorAll('.tr-row p')];
          getSelection().setBaseAndExtent(all.at(-2).firstChild, 0, all.at(-1).lastChild, 5);
        }"""
    )


WAYS: Final[dict[str, Any]] = {
    "wheel": _wheel,
    "finger": _touch,
    "key": _key,
    "bar": _bar,
    "selection": _select,
}


@pytest.mark.requirement("page:transcript:follow-begin")
@pytest.mark.requirement("page:transcript:follow-end")
@pytest.mark.requirement("page:transcript:follow-echo")
@pytest.mark.requirement("page:transcript:follow-held")
async def test_the_end_is_followed_until_somebody_reads_elsewhere(world: World) -> None:
    conversation = history(world, turns(12))
    reader = await Reader.at(world, f"/c/{conversation}", has_touch=True)
    assert await reader.from_end() <= 2
    await reader.wheel(-500)
    await Person(reader.page).ask("Go on.")
    turn = await world.agent.turn()
    await turn.prose("It begins.\n\n" + WORDS * 20)
    number = 0

    async def more() -> None:
        nonlocal number
        number += 1
        await turn.more(f"\n\n{WORDS * 3}\n\nMark {number}.\n\n")
        await expect_soon(reader.text(f"Mark {number}.")).to_be_attached()
        await reader.rest()

    await more()
    assert await reader.from_end() <= 2, "a question that was sent is followed"

    # What goes at the end is cut by the browser, and what changes the window is nobody's doing.
    for height in (900, 0, 300, 0):
        await reader.page.evaluate(
            """async (height) => {
              window.box ??= [...document.querySelectorAll('article')].at(-1)
                .appendChild(document.createElement('div'));
              box.style.height = height + 'px'; await probe.frame(3);
            }""",
            height,
        )
        assert await reader.from_end() <= 2
    await reader.page.set_viewport_size({"width": 1280, "height": 500})
    await reader.rest()
    await reader.page.set_viewport_size({"width": 1280, "height": 720})
    await more()
    assert await reader.from_end() <= 2

    for name, way in WAYS.items():
        await way(reader)
        await reader.rest()
        await reader.watch()
        await more()
        assert await reader.moved() <= SCROLLED_PX, name
        assert await reader.from_end() > 100, name
        await reader.page.evaluate("getSelection().removeAllRanges()")
        await reader.jump.click()
        await reader.rest()
        assert await reader.from_end() <= 2, name

    # A button that is held: the text grows, and nothing moves; then the end is followed again.
    box = await reader.transcript.bounding_box()
    assert box is not None
    await reader.page.mouse.move(box["x"] + 4, box["y"] + 200)
    await reader.page.mouse.down()
    await reader.watch()
    await more()
    assert await reader.moved() < SAME_PX
    await reader.page.mouse.up()
    await more()
    assert await reader.from_end() <= 2


# what is in the document ------------------------------------------------------------------------
@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.requirement("page:transcript:bounded")
@pytest.mark.requirement("page:transcript:open-at-end")
@pytest.mark.requirement("page:transcript:keys")
async def test_five_thousand_turns(world: World) -> None:
    conversation = history(world, turns(5000))
    reader = await Reader.at(world, f"/c/{conversation}")
    await expect_soon(reader.text("Answer 4999.")).to_be_visible()
    assert pages_asked(world) == [], "the snapshot is enough to open at the end"
    assert len(await reader.articles()) < 40

    await reader.transcript.focus()
    await reader.page.keyboard.press("Home")
    await expect_soon(reader.text("Question 0:")).to_be_in_viewport()
    assert len(await reader.articles()) < 40
    await reader.wheel(1500, 6)
    assert (await reader.articles())[0] != "ask_0"
    await reader.transcript.focus()
    await reader.page.keyboard.press("End")
    await expect_soon(reader.text("Answer 4999.")).to_be_in_viewport()
    assert await reader.from_end() <= 2
    assert len(await reader.articles()) < 40


@pytest.mark.requirement("page:transcript:open-at-end")
async def test_a_conversation_opens_at_its_end_from_its_snapshot(world: World) -> None:
    reader = await Reader.at(world, f"/c/{history(world, turns(200))}")

    await expect_soon(reader.text("Answer 199.")).to_be_visible()
    assert await reader.from_end() <= 2
    assert pages_asked(world) == []
    assert len(await reader.articles()) < 40


@pytest.mark.requirement("page:transcript:held")
async def test_a_selection_and_the_focus_stay_wherever_the_window_is(world: World) -> None:
    conversation = history(world, turns(60))
    reader = await Reader.at(world, f"/c/{conversation}")
    person = Person(reader.page)
    await person.ask("Go on.")
    turn = await world.agent.turn()
    await turn.prose("Selected words.\n\nMore of them.\n\n")
    await person.sees("More of them.")
    await reader.page.evaluate(
        """() => {
          const all = [...document.querySelectorAll('.tr-row p')];
          getSelection().setBaseAndExtent(all.at(-3).firstChild, 2, all.at(-2).lastChild, 8);
        }"""
    )
    selected = await reader.page.evaluate("getSelection().toString()")
    assert selected.strip() != ""
    for number in range(20):
        await turn.more(f"{WORDS}\n\nPiece {number}.\n\n")
    await expect_soon(reader.text("Piece 19.")).to_be_attached()
    assert await reader.page.evaluate("getSelection().toString()") == selected

    await reader.wheel(-1200, 12)
    assert int((await reader.articles())[0].split("_")[1]) < 50
    assert await reader.page.evaluate("getSelection().toString()") == selected

    # And what has the focus.
    await reader.page.evaluate("getSelection().removeAllRanges()")
    await reader.transcript.focus()
    await reader.page.keyboard.press("k")
    name = await reader.page.evaluate("document.activeElement.dataset.messageId")
    assert name
    await reader.wheel(-1200, 12)
    assert await reader.page.evaluate("document.activeElement.dataset.messageId") == name


@pytest.mark.requirement("page:transcript:long-answer")
async def test_of_a_long_answer_only_what_is_near_is_laid_out(world: World) -> None:
    long = "\n\n".join(f"Paragraph **{number}**. {WORDS}" for number in range(2_000))
    conversation = history(
        world, [*turns(2), message("ask", "user", "All of it."), message("long", "assistant", long)]
    )
    reader = await Reader.at(world, f"/c/{conversation}")
    await expect_soon(reader.text("Paragraph 1999")).to_be_visible()
    laid_out = """() => [...document.querySelectorAll('[data-message-id=long] strong')]
      .filter((it) => it.checkVisibility({ contentVisibilityAuto: true })).length"""

    assert await reader.page.evaluate(laid_out) < 300
    errors = []
    for _ in range(20):
        begin = await reader.watch()
        await reader.transcript.hover()
        await reader.page.mouse.wheel(0, -250)
        await reader.rest()
        end = await reader.page.evaluate("(probe.stop(), probe.target.getBoundingClientRect().top)")
        errors.append(abs(end - begin - 250))
    assert max(errors) < SAME_PX
    assert await reader.page.evaluate(laid_out) < 300


# what an update costs ---------------------------------------------------------------------------
_COUNTING: Final = """() => {
  window.changes = { records: 0, frames: 0, added: 0 };
  new MutationObserver((list) => {
    changes.records += list.length;
    for (const it of list) changes.added += it.addedNodes.length;
  }).observe(probe.scroller(), { childList: true, subtree: true, characterData: true, attributes: true });
}"""


@pytest.mark.requirement("page:transcript:one-update")
async def test_an_idle_page_does_nothing_and_a_hidden_one_catches_up_at_once(world: World) -> None:
    conversation = history(world, turns(5))
    reader = await Reader.at(world, f"/c/{conversation}")
    session = await reader.page.context.new_cdp_session(reader.page)
    await session.send("Performance.enable")

    async def work() -> dict[str, float]:
        found = await session.send("Performance.getMetrics")
        figures = {it["name"]: it["value"] for it in found["metrics"]}
        return {name: figures[name] for name in ("LayoutCount", "RecalcStyleCount")}

    person = Person(reader.page)
    await person.ask("Go on.")
    turn = await world.agent.turn()
    await turn.prose("It begins.")
    await person.sees("It begins.")
    await turn.complete()
    await turn.end()
    await person.sees_end()
    await reader.rest()

    # Nothing changes: no change of the document, no layout, no frame asked for.
    await reader.page.evaluate(_COUNTING)
    before = await work()
    asked = await reader.page.evaluate("probe.asked")
    await reader.frames(60)
    assert await reader.page.evaluate("changes.records") == 0
    assert await reader.page.evaluate("probe.asked") == asked
    assert await work() == before

    # Hidden: frames do not come, and without them nothing is done; then one does everything.
    await person.ask("And now?")
    turn = await world.agent.turn()
    await turn.prose("Seen.")
    await person.sees("Seen.")
    await reader.rest()
    await reader.page.evaluate("probe.hold()")
    await turn.more(" First of what is not seen.")
    for number in range(50):
        await turn.more(f" Word {number}.")
    await turn.complete()
    await turn.end()
    with_end = world.conversation()  # Something else that the gateway does meanwhile.
    assert with_end
    await reader.until("probe.asked > 0")
    await reader.frames(60)
    assert "not seen" not in await person.prose()
    ran = await reader.page.evaluate("probe.ran")
    await reader.page.evaluate("probe.release()")
    await person.sees("Word 49.")
    assert await reader.page.evaluate("probe.ran") - ran <= 10


@pytest.mark.slow
@pytest.mark.requirement("page:transcript:flat-cost")
async def test_a_token_changes_as_much_at_the_end_as_at_the_beginning(world: World) -> None:
    conversation = history(world, turns(100))
    reader = await Reader.at(world, f"/c/{conversation}")
    person = Person(reader.page)
    await person.ask("Say two thousand words.")
    turn = await world.agent.turn()
    await turn.prose("Begun. ")
    await person.sees("Begun.")
    await reader.page.evaluate(_COUNTING)
    tenths = []
    for tenth in range(10):
        begin = await reader.page.evaluate("changes.added")
        # A frame for each of them: what one update changes is what is counted.
        for number in range(40):
            await turn.more("Five words of some text" + (".\n\n" if number % 10 == 9 else " "))
            await reader.frames(1)
        await turn.more(f"\n\nTenth {tenth}.\n\n")
        await person.sees(f"Tenth {tenth}.")
        tenths.append(await reader.page.evaluate("changes.added") - begin)

    assert tenths[-1] <= 1.5 * tenths[1], tenths


# pages, places, states --------------------------------------------------------------------------
@pytest.mark.requirement("page:transcript:page-failed")
async def test_a_page_that_does_not_come_says_so(world: World) -> None:
    reader = await Reader.at(world, f"/c/{history(world, turns(120))}")
    await reader.page.route("**/messages?*", lambda route: route.abort())
    await reader.wheel(-3000, 14)
    notice = reader.page.locator(".tr-notice:visible")
    await expect_soon(notice).to_contain_text("could not be loaded")
    name, _ = await reader.first()
    top = await reader.top_of(name)

    await reader.page.unroute("**/messages?*")
    await notice.get_by_role("button", name="Try again").click()
    await expect_soon(reader.page.get_by_text("could not be loaded")).to_have_count(0)
    await reader.rest()
    assert abs(await reader.top_of(name) - top) < SAME_PX
    assert (await reader.articles())[0] != name, "what was missing stands above"


@pytest.mark.requirement("page:transcript:scroll-to")
async def test_an_address_leads_to_a_message_wherever_it_is(world: World) -> None:
    conversation = history(world, turns(120))
    reader = await Reader.at(world, f"/c/{conversation}#say_7/say_7_b")
    await expect_soon(reader.text("Answer 7.")).to_be_in_viewport()
    assert {"ask_7", "ask_8"} <= {*await reader.articles()}
    assert await reader.from_end() > 1000

    reader = await Reader.at(world, f"/c/{conversation}#say_118_b")
    await expect_soon(reader.text("Answer 118.")).to_be_in_viewport()

    reader = await Reader.at(world, f"/c/{conversation}#nobody/nothing")
    await expect_soon(reader.page.get_by_test_id("toast")).to_contain_text("not found")


@pytest.mark.requirement("page:transcript:states")
async def test_what_is_not_there_says_so(world: World) -> None:
    empty = world.conversation()
    page = await world.page(f"/c/{empty}")
    state = page.locator(".tr-state")
    await expect_soon(state).to_contain_text("No messages yet.")

    world.call(f"/v1/conversations/{empty}", method="DELETE")
    gone = page.get_by_text("deleted").first
    await expect_soon(gone).to_be_visible()

    page = await world.page("/c/conv_nobody")
    await expect_soon(page.get_by_text("or its address is wrong")).to_be_visible()

    held = world.conversation()
    page = await world.page()
    link = page.locator(f'a[data-conversation-id="{held}"]').first
    await expect_soon(link).to_be_visible()
    # A gateway that says nothing; a route would not hold the worker, which reads for all tabs.
    world.gateway.process.send_signal(signal.SIGSTOP)
    try:
        await link.click()
        await expect_soon(page.locator(".tr-state")).to_contain_text("Loading the conversation")
    finally:
        world.gateway.process.send_signal(signal.SIGCONT)
    await expect_soon(page.locator(".tr-state")).to_contain_text("No messages yet.")


@pytest.mark.requirement("page:transcript:announced")
async def test_what_is_said_aloud_is_not_each_token(world: World) -> None:
    reader = await Reader.at(world, f"/c/{history(world, turns(2))}")
    person = Person(reader.page)
    await reader.page.evaluate(
        """() => {
          window.said = [];
          for (const region of document.querySelectorAll('[aria-live]:not(output)')) {
            new MutationObserver(() => said.push(region.textContent)).observe(
              region, { childList: true, subtree: true, characterData: true });
          }
        }"""
    )
    await person.ask("Go on.")
    turn = await world.agent.turn()
    await turn.prose("Some words.")
    await reader.until("said.some((it) => it.includes('Answer started'))")
    for number in range(30):
        await turn.more(f" Token {number}.")
    await person.sees("Token 29.")
    await turn.complete()
    await turn.say(
        {"type": "content.block.started", "block": {"id": "t1", "type": "tool", "tool": "rm", "status": "running"}},
        {"type": "content.block.updated", "block_id": "t1", "set": {"status": "failed", "error": "no"}},
    )  # fmt: skip
    await reader.until("said.some((it) => it.includes('Tool rm failed'))")
    assert not any("Token" in it for it in await reader.page.evaluate("said"))
    await turn.complete("t1")
    await turn.say(
        {"type": "turn.suspended", "request": {"id": "r1", "kind": "approval", "prompt": "May I?"}}
    )
    await reader.until("said.some((it) => it.includes('Question waits'))")
    await reader.page.get_by_role("button", name="Approve").click()
    await turn.answer()
    await turn.end()
    await reader.until("said.some((it) => it.includes('Answer finished'))")
    assert await reader.page.evaluate("said.length") < 20


@pytest.mark.slow
@pytest.mark.requirement("page:transcript:long-answer")
@pytest.mark.requirement("page:transcript:slices")
async def test_a_vast_answer_comes_in_slices_and_is_whole_for_who_looks_in_it(world: World) -> None:
    vast = "\n\n".join(f"Paragraph **{number}**. {WORDS}{WORDS}" for number in range(10_000))
    conversation = history(
        world, [message("ask", "user", "All."), message("vast", "assistant", vast)]
    )
    page = await (await world.person()).new_page()
    # How many paragraphs there are in each frame.
    await page.add_init_script(
        """window.counts = [];
        window.whole = new Promise((done) => {
          const look = () => {
            const text = document.querySelector('[data-message-id=vast] .md');
            counts.push(text?.querySelectorAll('.md-paragraph').length ?? 0);
            if (text !== null && !('waiting' in text.dataset)) done();
            else requestAnimationFrame(look);
          };
          requestAnimationFrame(look);
        });"""
    )
    await page.goto(f"{world.url}/c/{conversation}")
    await page.evaluate("whole")
    counts = await page.evaluate("counts")
    assert counts[-1] == 10_000
    steps = [after - before for before, after in pairwise(counts)]
    assert max(steps) < 2_000, "no frame waits for all of it"
    await page.close()

    # A search that leads into it.
    reader = await Reader.at(world, f"/c/{conversation}")
    await reader.page.keyboard.press("Control+f")
    await reader.page.get_by_test_id("find-input").fill("Paragraph 9000")
    await expect_soon(reader.page.get_by_test_id("find-count")).to_have_text("1 of 1")
    await reader.until(
        """(() => {
          const range = [...(CSS.highlights.get('tr-found-current') ?? [])][0];
          const box = range?.getBoundingClientRect();
          return box !== undefined && box.height > 0 && box.top > 0 && box.bottom < innerHeight;
        })()"""
    )
