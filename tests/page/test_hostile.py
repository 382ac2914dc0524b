"""Whatever stands in a message, wherever: in the real page it is text, and nothing acts.

Scripts, dialogs, requests, navigations, windows and refusals of the policy are all trapped: a
payload that only the policy stops was not made harmless by the page, and counts as a failure.
"""

from __future__ import annotations

import os
import re
import urllib.request
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import pytest
from playwright.async_api import Page

from tests.page.people import Person, expect_soon
from tests.page.worlds import World
from tests.render.places import PLACES
from tests.suites import suite_json
from tests.support.cases import case_input
from tests.support.programs import WAIT_S, decoded

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]

OTHERS: Final[list[str]] = [
    vector["payload"]
    for suite in ("dompurify", "h5sc", "owasp")
    for vector in suite_json(f"xss/{suite}.json")["vectors"]
]
TERMINAL: Final[list[str]] = [
    case["payload"] for case in suite_json("terminal/payloads.json")["cases"]
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
  // Notes what could act: an element, a handler of events, an address, a name that hides one of ours.
  window.__look = (inside) => {
    for (const element of inside.querySelectorAll("*")) {
      const kind = element.localName;
      if (["script", "iframe", "object", "embed", "form", "style", "link", "meta", "base", "frame",
           "audio", "video", "source", "use", "foreignobject", "animate", "set"].includes(kind))
        window.__acted.push("element: " + kind);
      for (const { name, value } of element.attributes) {
        if (name.startsWith("on")) window.__acted.push("handler: " + name);
        if (["href", "src", "xlink:href", "action", "formaction", "srcset", "data", "poster"]
            .includes(name)) {
          const url = new URL(value, location.href);
          const own = url.origin === location.origin &&
            (/^\\/(v1\\/(attachments|conversations)|c)\\//.test(url.pathname) || url.hash || url.pathname === "/");
          if (!own && !(kind === "a" && /^(https?|mailto):$/.test(url.protocol)))
            window.__acted.push("address: " + kind + " " + value);
        }
        // The page itself places what is around messages, by script.
        if (["name", "style"].includes(name) && kind !== "details" && element.closest("article"))
          window.__acted.push("attribute: " + kind + " " + name);
        if (name === "id" && element.closest("article")) window.__acted.push("id: " + value);
      }
    }
  };
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
        "() => { window.__look(document.body); return [...new Set(window.__acted)]; }"
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
            for (const element of inside.querySelectorAll("article[data-message-id]")) {
              if (seen.has(element.dataset.messageId)) continue;
              seen.add(element.dataset.messageId);
              window.__look(element);
            }
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
    blocks: list[dict[str, Any]] = []
    named: list[dict[str, Any]] = []
    for number, (place, said) in enumerate(PLACES):
        if place in {"role", "id"}:
            continue  # no message has them: refused at the door
        some = [said(payload) for payload in OTHERS[number % STRIDE :: STRIDE]]
        blocks += _blocks(some)
        named += [
            {**message, "content": [{"id": "b", **_PROSE}]}
            for message in some
            if not message["content"]
            and all(_is_name(message.get(name, "x")) for name in ("author", "model"))
        ]
    messages = [*batches(blocks)]
    messages += [{**message, "id": f"named_{number}"} for number, message in enumerate(named)]
    # One page for all of it: what takes time is to open pages, not to draw them.
    await shows_without_acting(world, *await trapped(world), messages)


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
    if not isinstance(value, str):
        return True
    return value.strip() != "" and len(value) <= 256 and value.isprintable()


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


async def test_no_payload_of_terminals_acts(world: World) -> None:
    texts = [text for text in TERMINAL if not any("\ud800" <= char <= "\udfff" for char in text)]
    blocks = [
        block
        for place, said in PLACES
        if place in {"prose", "fence", "code.text", "tool.output", "error", "notice", "speech"}
        for block in _blocks(map(said, texts))
    ]
    page, around = await trapped(world)
    await shows_without_acting(world, page, around, [*batches(blocks)])
    shown = await page.locator("[data-testid=transcript]").text_content() or ""

    assert re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", shown) is None


async def test_titles_tags_and_what_a_search_finds_are_text(world: World) -> None:
    payloads = [text for text in OTHERS[::10] if _is_name(text)][:40]
    for payload in payloads:
        message = next(batches([{"type": "prose", "markdown": f"needle {payload} needle"}]))
        world.conversation(message, title=payload[:200], tags=[payload[:60]])
    page, around = await trapped(world)
    await page.goto(world.url)
    around.clear()
    titles = page.get_by_test_id("conversation-list").locator("a[data-conversation-id]")
    await expect_soon(titles.first).to_be_visible()
    await page.get_by_role("searchbox").fill("needle")
    await expect_soon(page.get_by_text("needle").first).to_be_visible()

    assert await acts(page) == []
    assert around == []


@pytest.mark.parametrize(
    "path",
    [
        "/#<img src=x onerror=alert(1)>",
        "/#javascript:alert(1)",
        "/#share=<script>alert(1)</script>:x",
        "/#share=__proto__:constructor",
        "/c/%3Cimg%20src=x%20onerror=alert(1)%3E",
        "/c/__proto__#constructor",
        "/c/..%5c..%5cv1%5cattachments%5cx",
        "/c/javascript:alert(1)#x55()",
    ],
)
async def test_no_address_of_the_page_acts(world: World, path: str) -> None:
    page, _ = await trapped(world)
    await page.goto(world.url + path)
    await expect_soon(page.locator("main").first).to_be_visible()

    assert await acts(page) == []
    assert page.url.startswith(f"{world.url}/")


FILES: Final = {
    "page.html": ("text/html", b"<script>opener||alert(1);document.title='ran'</script>"),
    "picture.svg": (
        "image/svg+xml",
        b'<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"><script>alert(1)</script></svg>',
    ),
    "page.xhtml": (
        "application/xhtml+xml",
        b'<html xmlns="http://www.w3.org/1999/xhtml"><script>alert(1)</script></html>',
    ),
}


def upload(world: World, conversation: str, name: str) -> str:
    """Return the id of one of the files, attached to a conversation."""
    media_type, data = FILES[name]
    request = urllib.request.Request(
        f"{world.gateway.url}/v1/conversations/{conversation}/attachments?name={name}",
        data=data,
        headers={"content-type": media_type},
    )
    with urllib.request.urlopen(request, timeout=WAIT_S) as answer:
        return str(decoded(answer.read())["id"])


def exported(world: World, path: str) -> tuple[str, Any]:
    """Return an export as it is sent, and its headers."""
    with urllib.request.urlopen(world.gateway.url + path, timeout=WAIT_S) as answer:
        return answer.read().decode(), answer.headers


@pytest.mark.parametrize("name", FILES)
async def test_no_attached_file_runs_when_it_is_opened(world: World, name: str) -> None:
    conversation = world.conversation()
    attachment = upload(world, conversation, name)
    page, around = await trapped(world)
    await page.goto(world.url)
    around.clear()
    async with page.expect_download() as started:
        await page.evaluate("(path) => { location.href = path; }", f"/v1/attachments/{attachment}")
    await (await started.value).cancel()

    assert await acts(page) == []
    assert around == []


async def test_an_export_that_is_opened_from_the_gateway_runs_nothing(world: World) -> None:
    blocks = [{"type": "prose", "markdown": text} for text in (*OTHERS[::9], *OWN[::3])]
    conversation = world.conversation(*batches(blocks), title="<script>alert(1)</script>")
    path = f"/v1/conversations/{conversation}/export?format=html"
    page, around = await trapped(world)
    document, headers = exported(world, path)
    policy = str(headers["content-security-policy"])
    is_saved = str(headers["content-disposition"]).startswith("attachment")
    # As a person would open it who got it from there, under the same policy.
    await page.route("**/opened", lambda route: route.fulfill(
        body=document, content_type="text/html", headers={"content-security-policy": policy}
    ))  # fmt: skip
    await page.goto(f"{world.url}/opened")
    around.clear()
    acted = await page.evaluate(
        "() => [...document.querySelectorAll('script, iframe, object, form, [onload], [onerror]')].length"
    )

    assert is_saved or "sandbox" in policy
    assert "script-src" not in policy or "script-src 'none'" in policy
    assert acted == 0
    assert around == []


async def test_what_is_copied_is_text_and_nothing_else(world: World) -> None:
    text = "**bold** <img src=x onerror=alert(1)> [x](javascript:alert(1))"
    conversation = world.conversation(*batches([{"type": "prose", "markdown": text}]))
    page, around = await trapped(world)
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await page.goto(f"{world.url}/c/{conversation}")
    around.clear()
    answer = Person(page).answer()
    await expect_soon(answer).to_be_visible()
    await answer.hover()
    await answer.get_by_role("button", name="Copy").first.click()
    kinds = await page.evaluate(
        "async () => (await navigator.clipboard.read()).flatMap((item) => item.types)"
    )
    copied = await page.evaluate("() => navigator.clipboard.readText()")

    assert kinds == ["text/plain"]
    assert "bold" in copied
    assert await acts(page) == []
    assert around == []


async def test_no_name_of_a_message_hides_one_of_the_document(world: World) -> None:
    names = ("getElementById", "querySelector", "body", "cookie", "forms", "location", "__proto__")
    blocks = [
        {"type": "prose", "markdown": f'<img name="{name}" id="{name}"> [{name}](#{name}) # {name}'}
        for name in names
    ] + [{"type": name.lower().strip("_"), "fallback_text": name} for name in names]
    page, around = await trapped(world)
    await shows_without_acting(world, page, around, [*batches(blocks)])
    hidden = await page.evaluate(
        """(names) => names.filter((name) => document[name] instanceof HTMLImageElement ||
             window[name] instanceof HTMLElement || document.getElementsByName(name).length > 0)""",
        list(names),
    )

    assert hidden == []


async def test_a_shared_conversation_shows_payloads_as_text(world: World) -> None:
    blocks = [{"type": "prose", "markdown": text} for text in (*OTHERS[::9], *OWN[::3])]
    conversation = world.conversation(*batches(blocks), title="<script>alert(1)</script>")
    share = world.call(f"/v1/conversations/{conversation}/shares", method="POST", body={})
    page, around = await trapped(world)
    await page.goto(f"{world.url}/#share={conversation}:{share['secret']}")
    around.clear()
    await read_through(page)

    assert await acts(page) == []
    assert around == []
