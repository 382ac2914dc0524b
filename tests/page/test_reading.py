"""The page for every reader: keyboard alone, a screen reader, a phone, the dark, the other direction."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest
from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]  # no py.typed
from playwright.async_api import Locator, Page

from tests.page.people import Person, expect_soon
from tests.page.worlds import World

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

PHONE: Final[dict[str, Any]] = {
    "viewport": {"width": 390, "height": 844},
    "has_touch": True,
    "is_mobile": True,
}
SERIOUS: Final = ("serious", "critical")
EVERYTHING: Final[list[dict[str, Any]]] = [
    {"type": "prose", "markdown": "# A heading\n\nA [link](https://a.example) and **bold**.\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n- [x] done\n- [ ] open\n\n![picture](https://a.example/x.png)\n\n```python\nprint(1)\n```\n"},
    {"type": "code", "text": "def f():\n    return 1\n", "language": "python"},
    {"type": "tool", "tool": "run_tests", "status": "completed", "input": {"paths": ["tests"]}, "output": {"pass": 6}, "started_at": 1, "completed_at": 1001},
    {"type": "tool", "tool": "rm", "status": "failed", "error": "no such file"},
    {"type": "reasoning", "text": "Let me see.", "visibility": "visible"},
    {"type": "error", "code": "provider_unavailable", "message": "It is not there.", "retryable": True},
    {"type": "attachment", "attachment_id": "att_1", "name": "report.pdf", "media_type": "application/pdf"},
    {"type": "notice", "code": "turn_cancelled", "message": "Stopped by user."},
    {"type": "speech", "text": "Six tests pass."},
    {"type": "chart", "fallback_text": "A chart of six tests."},
    {"type": "prose", "markdown": "שלום עולם, this is mixed."},
]  # fmt: skip


async def serious(page: Page) -> list[str]:
    """Return what axe-core finds serious, one line each."""
    results = await Axe().run(page)
    return [
        f"{found['id']}: {node['target']} {node.get('failureSummary', '')}"
        for found in results.response["violations"]
        if found["impact"] in SERIOUS
        for node in found["nodes"]
    ]


def everything(world: World) -> str:
    """Return a conversation with a block of each kind."""
    blocks = [{**block, "id": f"block_{number}"} for number, block in enumerate(EVERYTHING)]
    return world.conversation(
        {
            "id": "msg_1",
            "role": "user",
            "status": "completed",
            "created_at": 1,
            "content": [{"id": "b", "type": "prose", "markdown": "Show me everything."}],
        },
        {
            "id": "msg_2",
            "role": "assistant",
            "status": "completed",
            "created_at": 2,
            "content": blocks,
        },
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("device", [{}, PHONE], ids=["desk", "phone"])
async def test_axe_finds_nothing_serious(world: World, scheme: str, device: dict[str, Any]) -> None:
    start = await world.page("/", color_scheme=scheme, **device)
    await expect_soon(Person(start).composer).to_be_visible()
    assert await serious(start) == []

    page = await world.page(f"/c/{everything(world)}", color_scheme=scheme, **device)
    person = Person(page)
    await expect_soon(person.messages("assistant")).to_be_visible()
    assert await serious(page) == []


async def test_a_phone_shows_everything_without_scrolling_sideways(world: World) -> None:
    page = await world.page(f"/c/{everything(world)}", **PHONE)
    person = Person(page)
    await expect_soon(person.messages("assistant")).to_be_visible()

    wide = await page.evaluate(
        "() => document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth"
    )
    assert wide == 0
    box = await person.composer.bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["x"] + box["width"] <= PHONE["viewport"]["width"]
    assert box["y"] + box["height"] <= PHONE["viewport"]["height"]


async def test_a_keyboard_is_enough(world: World) -> None:
    person = Person(await world.page())
    await expect_soon(person.composer).to_be_visible()
    await reach(person.composer)
    await person.page.keyboard.type("Do they pass?")
    await person.page.keyboard.press("Enter")
    turn = await world.agent.turn()
    await expect_soon(person.page).to_have_url(re.compile("/c/"))
    await expect_soon(person.composer).to_be_focused()
    await turn.prose("They pass.")
    await person.sees("They pass.")
    await turn.say(
        {
            "type": "turn.suspended",
            "request": {"id": "r1", "kind": "approval", "prompt": "Delete 3 files?"},
        }
    )
    approve = person.page.get_by_role("button", name="Approve")
    # A panel that has just come takes no answer for half a second: keys as quick as these pass it.
    await expect_soon(approve).to_be_enabled()
    await reach(approve)
    await person.page.keyboard.press("Enter")
    assert (await turn.answer())["answer"] is True
    await turn.complete()
    await turn.end()
    await person.sees_end()


_PASSED: Final = """(wanted) => {
  const { activeElement, body } = document;
  if (activeElement === wanted) return "there";
  // Between the last and the first of the page the focus is nowhere.
  if (activeElement === body) return "";
  if (passed.has(activeElement)) return "around: " + [...passed].map((it) => it.outerHTML.slice(0, 60)).join();
  passed.add(activeElement);
  return "";
}"""


async def reach(wanted: Locator) -> None:
    """Press Tab until the focus is on ``wanted``, as somebody without a mouse does: once around at most."""
    page = wanted.page
    await page.evaluate("() => { window.passed = new Set(); }")
    while (found := await wanted.evaluate(_PASSED)) != "there":
        assert found == "", f"the keyboard never reaches {wanted}: {found}"
        await page.keyboard.press("Tab")


async def test_a_screen_reader_hears_that_an_answer_ended_and_no_token(world: World) -> None:
    page = await world.page()
    person = Person(page)
    await person.ask("Count.")
    turn = await world.agent.turn()
    await page.evaluate(
        """() => {
          window.heard = [];
          const listen = (region) => new MutationObserver(() => {
            if (region.textContent.trim()) window.heard.push(region.textContent.trim());
          }).observe(region, { childList: true, subtree: true, characterData: true });
          for (const region of document.querySelectorAll("[aria-live], [role=status], [role=log]"))
            listen(region);
        }"""
    )
    await turn.prose("")
    for number in range(60):
        await turn.more(f"word{number} ")
        if number % 20 == 19:
            await person.sees(f"word{number}")
    await turn.complete()
    await turn.end()
    await person.sees_end()

    await page.wait_for_function("() => window.heard.length > 0")
    heard = await page.evaluate("() => window.heard")
    assert len(heard) < 10
    inside = await person.transcript.evaluate(
        "(element) => element.querySelectorAll('article [aria-live]').length"
    )
    assert inside == 0


async def test_text_runs_in_its_own_direction(world: World) -> None:
    page = await world.page(f"/c/{everything(world)}")
    found = page.get_by_text("שלום עולם, this is mixed.")
    await expect_soon(found).to_be_visible()
    assert await found.evaluate("(element) => getComputedStyle(element).direction") == "rtl"
