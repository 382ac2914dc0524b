"""The frame of the page as tests see it: its list, its clock, whether anybody looks at it, what it asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import anyio
from playwright.async_api import Error, Locator, Page, Request, Route

from tests.page.worlds import World
from tests.support.programs import WAIT_S

__all__ = [
    "HIDDEN",
    "LIST",
    "SEARCH",
    "Asked",
    "hide",
    "hold_answer",
    "kept_ids",
    "listed",
    "look",
    "row",
    "said",
    "shown_ids",
    "still",
    "toast",
]

LIST: Final = "**/v1/conversations?*"
SEARCH: Final = "**/v1/search?*"
HIDDEN: Final = """
  window.isHidden = true;
  Object.defineProperty(document, "visibilityState", { get: () => isHidden ? "hidden" : "visible" });
  Object.defineProperty(document, "hidden", { get: () => isHidden });
"""
"""Makes a page one that nobody sees: nothing of it moves but by what it is told."""


def said(*texts: str) -> list[dict[str, Any]]:
    """Return a question, and an answer whose blocks are ``texts``."""
    return [_message(1, "user", ["What is it?"]), _message(2, "assistant", texts)]


def _message(number: int, role: str, texts: Sequence[str]) -> dict[str, Any]:
    return {
        "id": f"msg_{number}",
        "role": role,
        "status": "completed",
        "created_at": number,
        "content": [
            {"id": f"block_{place}", "type": "prose", "markdown": text}
            for place, text in enumerate(texts, 1)
        ],
    }


def listed(page: Page) -> Locator:
    """Return the rows of the list."""
    return page.get_by_test_id("conversation-list").locator("a[data-conversation-id]")


def row(page: Page, conversation_id: str) -> Locator:
    """Return the row of one conversation, in the list or in what was found."""
    return page.locator(f'nav a[data-conversation-id="{conversation_id}"]')


def toast(page: Page, text: str) -> Locator:
    """Return the message at the edge of the page that holds ``text``."""
    return page.get_by_test_id("toast").filter(has_text=text)


async def shown_ids(page: Page) -> list[str]:
    """Return the ids of the list, in its order."""
    found: list[str] = await listed(page).evaluate_all(
        "(rows) => rows.map((row) => row.dataset.conversationId)"
    )
    return found


def kept_ids(world: World) -> list[str]:
    """Return the ids of all conversations, in the gateway's order."""
    found: list[str] = []
    cursor = ""
    while True:
        page = world.call(f"/v1/conversations?limit=50{cursor}")
        found += [item["id"] for item in page["items"]]
        if page.get("next_cursor") is None:
            return found
        cursor = f"&cursor={page['next_cursor']}"


async def still(page: Page) -> None:
    """Stop the page's clock: what it does from now on, it does because it was told."""
    for ahead_ms in (1_000, 2_000, 4_000, 8_000):
        try:
            await page.clock.pause_at(await page.evaluate("(ms) => Date.now() + ms", ahead_ms))
        except Error as error:
            # The clock went on to there before it heard of it.
            if "past" not in error.message:
                raise
        else:
            return
    raise AssertionError("the clock of the page does not stand still")


async def hide(page: Page, is_hidden: bool) -> None:
    """Let nobody, or somebody, see a page that was made with :data:`HIDDEN`."""
    await page.evaluate(
        "(isHidden) => { window.isHidden = isHidden; "
        "document.dispatchEvent(new Event('visibilitychange')); }",
        is_hidden,
    )


async def look(page: Page) -> None:
    """Come back to the window."""
    await page.evaluate("() => window.dispatchEvent(new Event('focus'))")


class Asked:
    """The requests that a page makes for one path, of which the first page alone counts."""

    def __init__(self, page: Page, path: str) -> None:
        self.count = 0
        self._path = path
        page.on("request", self._hear)

    def _hear(self, request: Request) -> None:
        path, _, query = request.url.partition("?")
        self.count += path.endswith(self._path) and "cursor=" not in query


async def hold_answer(page: Page, url: str) -> tuple[anyio.Event, anyio.Event]:
    """Hold the next answer to ``url``; return what is set when it was given, and what lets it go."""
    given, go = anyio.Event(), anyio.Event()

    async def hold(route: Route) -> None:
        answer = await route.fetch()
        given.set()
        with anyio.fail_after(WAIT_S):
            await go.wait()
        await route.fulfill(response=answer)

    await page.route(url, hold, times=1)
    return given, go
