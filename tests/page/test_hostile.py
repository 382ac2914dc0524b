"""Whatever stands in a message, wherever: in the real page it is text, and nothing acts.

Scripts, dialogs, requests, navigations, windows and refusals of the policy are all trapped: a
payload that only the policy stops was not made harmless by the page, and counts as a failure.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import pytest
from playwright.async_api import Page

from tests.page.people import Person, expect_soon
from tests.page.worlds import World
from tests.render.places import PLACES
from tests.suites import suite_json
from tests.support.cases import case_input

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]

OTHERS: Final[list[str]] = [
    vector["payload"]
    for suite in ("dompurify", "h5sc", "owasp")
    for vector in suite_json(f"xss/{suite}.json")["vectors"]
]
OWN: Final[list[str]] = [
    vector["markdown"] for vector in suite_json("xss/own_markdown.json")["vectors"]
]
# Whatever a payload calls to prove itself, in any of the suites.
TRAPS: Final = """
  window.__acted = [];
  const note = (name) => (...words) => { window.__acted.push(name + ": " + words.join(" ")); };
  for (const name of ["alert", "confirm", "prompt", "print", "open", "x55", "xss", "XSS"])
    Object.defineProperty(window, name, { value: note(name), writable: true });
  document.addEventListener("securitypolicyviolation", (event) =>
    window.__acted.push("refused: " + event.violatedDirective + " " + event.blockedURI));
  document.write = note("document.write");
"""
BLOCKS_OF_MESSAGE: Final = 40
STRIDE: Final = int(os.environ.get("HOSTILE_STRIDE", "6"))
"""Each place gets every so many-th payload, another part of them each; ``make page-attack`` takes all."""
_PROSE: Final = {"type": "prose", "markdown": "x"}
_NAMES: Final = ("tool", "name", "media_type", "language", "code", "title", "attachment_id", "type")


async def trapped(world: World) -> tuple[Page, list[str]]:
    """Return a page with traps in it, and what went on around it."""
    context = await world.person()
    await context.add_init_script(TRAPS)
    page = await context.new_page()
    acted: list[str] = []
    context.on("page", lambda other: acted.append(f"window: {other.url}"))
    page.on("framenavigated", lambda frame: acted.append(f"navigation: {frame.url}"))
    return page, acted


async def acts(page: Page) -> list[str]:
    """Return what any payload did in a page, elements that could act included."""
    found: list[str] = await page.evaluate(
        """() => {
          const acts = [...window.__acted];
          const inside = document.querySelector('[data-testid="transcript"]');
          for (const element of inside.querySelectorAll("*")) {
            const name = element.localName;
            if (["script", "iframe", "object", "embed", "form", "style", "link", "meta", "base",
                 "frame", "audio", "video", "source", "use", "foreignobject", "animate", "set"]
                .includes(name)) acts.push("element: " + name);
            for (const {name: attribute, value} of element.attributes) {
              if (attribute.startsWith("on")) acts.push("handler: " + attribute);
              if (["href", "src", "xlink:href", "action", "formaction", "srcset", "data", "poster"]
                  .includes(attribute)) {
                const url = new URL(value, location.href);
                const own = url.origin === location.origin &&
                  (/^\\/(v1\\/(attachments|conversations)|c)\\//.test(url.pathname) || url.hash);
                if (!own && !(name === "a" && /^(https?|mailto):$/.test(url.protocol)))
                  acts.push("address: " + name + " " + value);
              }
              // The page itself places what is around messages, by script.
              if (["name", "style"].includes(attribute) && name !== "details" &&
                  element.closest("article")) acts.push("attribute: " + name + " " + attribute);
            }
          }
          return acts;
        }"""
    )
    return found


def batches(blocks: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield messages that hold many of ``blocks`` each."""
    held: list[dict[str, Any]] = []
    number = 0
    for number, block in enumerate(blocks, 1):
        held.append({**block, "id": f"block_{number}"})
        if len(held) == BLOCKS_OF_MESSAGE:
            yield _message(number, held)
            held = []
    if held:
        yield _message(number, held)


def _message(number: int, blocks: Sequence[dict[str, Any]]) -> dict[str, Any]:
    return {
        "id": f"msg_{number}",
        "role": "assistant",
        "status": "completed",
        "content": list(blocks),
        "created_at": 1,
    }


async def read_through(page: Page) -> int:
    """Scroll through everything, so that all of it was drawn; return how many messages were."""
    await expect_soon(Person(page).messages("assistant").first).to_be_visible()
    seen: int = await page.evaluate(
        """async () => {
          const inside = document.querySelector('[data-testid="transcript"]');
          const seen = new Set();
          const frame = () => new Promise((done) => requestAnimationFrame(done));
          const look = () => {
            for (const element of inside.querySelectorAll("article[data-message-id]"))
              seen.add(element.dataset.messageId);
          };
          for (let still = 0, last = -1; still < 30; ) {
            look();
            inside.scrollTop -= Math.max(200, inside.clientHeight * 0.8);
            await frame(); await frame();
            still = inside.scrollTop === last && inside.scrollTop === 0 ? still + 1 : 0;
            last = inside.scrollTop;
          }
          return seen.size;
        }"""
    )
    return seen


async def shows_without_acting(
    world: World, page: Page, around: list[str], messages: Sequence[Mapping[str, Any]]
) -> None:
    """Check that a conversation of these messages is drawn and does nothing."""
    conversation = world.conversation(*messages)
    address = f"{world.url}/c/{conversation}"
    await page.goto(address)
    around.clear()

    assert await read_through(page) == len(messages)
    assert await acts(page) == []
    assert around == []
    assert page.url == address


async def test_no_markup_of_the_suites_acts_in_prose(world: World) -> None:
    cases: Any = case_input("M06")
    blocks = [{"type": "prose", "markdown": text} for text in (*OTHERS, *OWN, *cases["messages"])]
    await shows_without_acting(world, *await trapped(world), [*batches(blocks)])


async def test_no_payload_acts_from_any_place_of_a_message(world: World) -> None:
    page, around = await trapped(world)
    for number, (place, said) in enumerate(PLACES):
        if place in {"role", "id"}:
            continue  # no message has them: refused at the door
        some = [said(payload) for payload in OTHERS[number % STRIDE :: STRIDE]]
        if some[0]["content"]:
            messages = [*batches(_blocks(some))]
        else:
            messages = [
                {**message, "id": f"msg_{index}", "content": [{"id": "b", **_PROSE}]}
                for index, message in enumerate(some)
                if all(_is_name(message.get(name, "x")) for name in ("author", "model"))
            ]
        if messages:
            await shows_without_acting(world, page, around, messages)


def _blocks(messages: Iterable[Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    for message in messages:
        for block in message["content"]:
            names = [block.get(name, "x") for name in _NAMES]
            is_taken = all(map(_is_name, names)) and block["type"] == block["type"].lower()
            is_taken = is_taken and block.get("text", "x").strip() != ""
            is_taken = is_taken and re.fullmatch("[a-z_][a-z0-9_]*", block.get("code", "x"))
            if is_taken:
                yield dict(block)


def _is_name(value: Any) -> bool:
    return not isinstance(value, str) or (0 < len(value) <= 256 and value.isprintable())


async def test_no_payload_acts_while_it_streams(world: World) -> None:
    conversation = world.conversation()
    page, around = await trapped(world)
    await page.goto(f"{world.url}/c/{conversation}")
    around.clear()
    person = Person(page)
    await person.ask("Attack.")
    turn = await world.agent.turn()
    for number, text in enumerate(OTHERS[::3] + OWN[::3]):
        if len(text) > 5_000:
            continue
        block = f"b{number}"
        await turn.prose("", block_id=block)
        half = len(text) // 2
        await turn.more(text[:half], block_id=block)
        await turn.more(text[half:], block_id=block)
        await turn.complete(block)
    await turn.end()

    await person.sees_end()
    assert await acts(page) == []
    assert around == []
