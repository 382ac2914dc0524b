"""Long conversations, made at once, and what tells a test where the words on a page are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import anyio
from playwright.async_api import Locator, Page

from blockwire.archives import ArchiveWriter
from blockwire.content import Message
from tests.page.worlds import World
from tests.support.programs import WAIT_S

__all__ = ["Reader", "answer", "history", "question", "turns"]

WORDS: Final = "The quick brown fox reads a page of plain text and jumps over several lazy dogs. "

_PROBE: Final = """
(() => {
  const p = { steps: [], frames: 0, on: false, target: null, asked: 0, ran: 0 };
  window.probe = p;
  // Frames that the page asks for, and those that it gets: a test may keep them back, as a hidden tab does.
  const raf = window.requestAnimationFrame.bind(window);
  let held = null;
  window.requestAnimationFrame = (callback) => {
    p.asked += 1;
    const run = (time) => { p.ran += 1; callback(time); };
    if (held !== null) { held.push(run); return -held.length; }
    return raf(run);
  };
  p.hold = () => { held = []; };
  p.release = () => { const all = held ?? []; held = null; raf((time) => { for (const run of all) run(time); }); };
  p.scroller = () => document.querySelector('[data-testid=transcript]');
  const top = (element) => element.getBoundingClientRect().top;
  const pick = () => {
    const box = p.scroller().getBoundingClientRect();
    for (const element of document.querySelectorAll('.tr-row p')) {
      const { top, bottom } = element.getBoundingClientRect();
      if (top >= box.top + 8 && top < box.bottom - 60 && bottom > top) return element;
    }
    return null;
  };
  // What is painted: read in a callback of ResizeObserver that was made after those of the page, so that it
  // comes after layout and after what the page puts right, and before paint. A box that changes in each frame
  // calls it.
  p.watch = () => {
    p.stop();
    p.target = pick();
    if (p.target === null) return null;
    p.steps = []; p.on = true;
    const box = document.createElement('div');
    box.style.cssText = 'position:fixed;left:0;top:0;height:1px;visibility:hidden';
    document.body.append(box);
    let wide = 1;
    p.observer = new ResizeObserver(() => {
      if (p.on) p.steps.push(p.target.isConnected ? top(p.target) : NaN);
    });
    p.observer.observe(box);
    const tick = () => { if (!p.on) return; wide = 3 - wide; box.style.width = wide + 'px'; raf(tick); };
    raf(tick);
    p.box = box;
    return top(p.target);
  };
  p.stop = () => { p.on = false; p.observer?.disconnect(); p.box?.remove(); };
  p.seen = () => {
    p.stop();
    return { frames: p.steps.length, spread: Math.max(...p.steps) - Math.min(...p.steps), steps: p.steps.slice(0, 50) };
  };
  p.frame = (count = 1) => new Promise((done) => {
    const next = () => (count-- > 0 ? raf(next) : done());
    next();
  });
  // Nothing scrolls, loads or is put right any more: for so many frames in a row.
  p.rest = (frames = 14) => new Promise((done) => {
    let still = 0; let last = '';
    const look = () => {
      const s = p.scroller();
      const now = [s.scrollTop, s.scrollHeight, document.querySelectorAll('article').length].join();
      still = now === last ? still + 1 : 0;
      last = now;
      if (still >= frames) done(); else raf(look);
    };
    look();
  });
  p.first = () => {
    const box = p.scroller().getBoundingClientRect();
    for (const article of document.querySelectorAll('article[data-message-id]')) {
      const { top, bottom } = article.getBoundingClientRect();
      if (bottom > box.top + 1) return [article.dataset.messageId, top - box.top];
    }
    return null;
  };
  p.fromEnd = () => { const s = p.scroller(); return s.scrollHeight - s.clientHeight - s.scrollTop; };
})();
"""


class Reader:
    """Somebody's eyes and hands on a transcript."""

    def __init__(self, page: Page) -> None:
        self.page = page

    @classmethod
    async def at(cls, world: World, path: str, **options: Any) -> Reader:
        """Return a reader whose page at ``path`` shows a message."""
        page = await (await world.person(**options)).new_page()
        await page.add_init_script(_PROBE)
        await page.goto(world.url + path)
        reader = cls(page)
        await page.locator("article[data-message-id]").first.wait_for()
        await reader.rest()
        return reader

    @property
    def transcript(self) -> Locator:
        return self.page.get_by_test_id("transcript")

    @property
    def jump(self) -> Locator:
        return self.page.get_by_test_id("jump-to-end")

    async def rest(self, frames: int = 14) -> None:
        """Wait until nothing moves for so many frames."""
        await self.page.evaluate("(frames) => probe.rest(frames)", frames)

    async def frames(self, count: int) -> None:
        """Wait so many frames."""
        await self.page.evaluate("(count) => probe.frame(count)", count)

    async def wheel(self, pixels: int, times: int = 1) -> None:
        """Turn the wheel over the text, and wait until it stands."""
        await self.transcript.hover()
        for _ in range(times):
            await self.page.mouse.wheel(0, pixels)
            await self.frames(2)
        await self.rest()

    async def watch(self) -> float:
        """Watch the first paragraph that is wholly in the window; returns where it is."""
        found = await self.page.evaluate("probe.watch()")
        assert found is not None, "there is text in the window"
        return float(found)

    async def moved(self, frames_min: int = 3) -> float:
        """Return by how many pixels what is watched moved, over all frames that were painted."""
        await self.frames(4)
        seen = await self.page.evaluate("probe.seen()")
        assert seen["frames"] >= frames_min
        assert seen["spread"] == seen["spread"], "what is watched stays in the document"
        return float(seen["spread"])

    async def until(self, expression: str) -> None:
        """Wait until an expression of the page holds, looked at once a frame."""
        # By `evaluate`, which the policy of the page does not keep from being read as a script.
        with anyio.fail_after(WAIT_S):
            while not await self.page.evaluate(expression):
                await self.frames(1)

    def text(self, text: str) -> Locator:
        """Return where words stand in the transcript."""
        return self.transcript.get_by_text(text).first

    async def top_of(self, message_id: str) -> float:
        """Return how far below the top of the window a message in the document begins."""
        return float(
            await self.page.evaluate(
                "(id) => document.querySelector(`[data-message-id=${id}]`)"
                ".getBoundingClientRect().top - probe.scroller().getBoundingClientRect().top",
                message_id,
            )
        )

    async def first(self) -> tuple[str, float]:
        """Return the message at the top of the window, and where its top is."""
        message_id, top = await self.page.evaluate("probe.first()")
        return str(message_id), float(top)

    async def from_end(self) -> float:
        """Return how many pixels are below the window."""
        return float(await self.page.evaluate("probe.fromEnd()"))

    async def articles(self) -> list[str]:
        """Return the ids of the messages in the document, in its order."""
        found = await self.page.evaluate(
            "[...document.querySelectorAll('article[data-message-id]')]"
            ".map((it) => it.dataset.messageId)"
        )
        return [str(name) for name in found]


def message(name: str, role: str, markdown: str) -> Message:
    """Return a finished message."""
    return {
        "id": name,
        "role": role,
        "status": "completed",
        "created_at": 1_740_000_000_000,
        "content": [{"id": f"{name}_b", "type": "prose", "markdown": markdown}],
    }


def question(number: int) -> Message:
    """Return the question of a turn."""
    return message(f"ask_{number}", "user", f"Question {number}: what does it say?")


def answer(number: int) -> Message:
    """Return the answer of a turn; how long it is depends on its number, unevenly."""
    parts = [f"Answer {number}. " + WORDS * (1 + number * 7 % 5)]
    if number % 3 == 0:
        parts.append("\n".join(f"- {WORDS[:40]}{item}" for item in range(number % 4 + 1)))
    if number % 5 == 0:
        parts.append("```python\n" + "print(1)\n" * (number % 9 + 1) + "```")
    parts.append(WORDS * 2)
    return message(f"say_{number}", "assistant", "\n\n".join(parts))


def turns(count: int, begin: int = 0) -> list[Message]:
    """Return questions and answers, numbered from ``begin``."""
    return [
        part
        for number in range(begin, begin + count)
        for part in (question(number), answer(number))
    ]


def history(world: World, messages: Sequence[Message]) -> str:
    """Return the id of a new conversation that holds ``messages``, however many."""
    writer = ArchiveWriter()
    lines = [
        writer.start(created_at=1, generator="tests", view="owner"),
        writer.start_conversation({"id": "conv_1", "created_at": 1}),
        *(writer.add_message(it) for it in messages),
        writer.end_conversation(),
        writer.end(),
    ]
    (found,) = world.call("/v1/import", method="POST", body=b"".join(lines))
    return str(found["conversations"][0]["id"])
