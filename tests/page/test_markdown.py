"""Markdown as a browser shows it, under the page's own policy: the same however it came, and inert."""

from __future__ import annotations

import random
import re
import subprocess
from collections.abc import AsyncIterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.async_api import Browser, Page, Route

from blockwire.web import CONTENT_SECURITY_POLICY
from tests.page.worlds import WAIT_MS
from tests.suites import suite_json
from tests.web.agreement import WEB

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

ORIGIN: Final = "http://prose.test"
STYLES: Final = ("tokens", "markdown")
EXAMPLES: Final[list[dict[str, Any]]] = suite_json("commonmark/spec.json")
PAYLOADS: Final[list[str]] = [
    vector["payload"]
    for suite in ("dompurify", "h5sc", "owasp")
    for vector in suite_json(f"xss/{suite}.json")["vectors"]
]
OWN: Final[list[str]] = [
    vector["markdown"] for vector in suite_json("xss/own_markdown.json")["vectors"]
]
RUNS: Final = """
  const { bare, cut, whole, make, code, copied, removedCount } = window.prose;
  const html = (view) => view.element.innerHTML;
  const all = (view, selector) => [...view.element.querySelectorAll(selector)];
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    built = tmp_path_factory.mktemp("prose")
    subprocess.run(["node", "page/test/bundle.mjs", str(built), "prose"], cwd=WEB, check=True)
    return built


class Prose:
    """A page with Markdown in it and nothing else."""

    def __init__(self, page: Page, folder: Path) -> None:
        self.page = page
        self.requests: list[str] = []
        self.troubles: list[str] = []
        self._folder = folder
        page.on("pageerror", lambda error: self.troubles.append(str(error)))
        page.on("dialog", lambda dialog: self.troubles.append(dialog.message))
        page.on("console", self._hear)

    def _hear(self, message: Any) -> None:
        if message.type == "error":
            self.troubles.append(message.text)

    async def run(self, script: str, argument: Any = None) -> Any:
        """Evaluate a script with the views at hand."""
        return await self.page.evaluate(f"async (argument) => {{ {RUNS} {script} }}", argument)

    async def serve(self, route: Route) -> None:
        """Answer what the page asks for, under the policy of the real page."""
        path = route.request.url.removeprefix(ORIGIN)
        self.requests.append(path)
        if path == "/":
            links = "".join(f'<link rel="stylesheet" href="/{name}.css">' for name in STYLES)
            await route.fulfill(
                body=f'<!doctype html><html lang="en"><title>x</title>{links}'
                '<script type="module" src="/prose.js"></script><main></main>',
                content_type="text/html",
                headers={"Content-Security-Policy": CONTENT_SECURITY_POLICY},
            )
        elif path.endswith(".css"):
            style = WEB / "page" / "src" / "styles" / path.removeprefix("/")
            await route.fulfill(body=style.read_text(encoding="utf-8"), content_type="text/css")
        elif (found := self._folder / path.removeprefix("/")).is_file():
            await route.fulfill(
                body=found.read_text(encoding="utf-8"), content_type="text/javascript"
            )
        else:
            await route.fulfill(status=404, body="")


@pytest.fixture(scope="module")
async def opened(browser: Browser, folder: Path) -> AsyncIterator[Prose]:
    page = await browser.new_page()
    page.set_default_timeout(WAIT_MS)
    shown = Prose(page, folder)
    await page.route("**/*", shown.serve)
    await page.goto(f"{ORIGIN}/")
    await page.wait_for_function("window.prose !== undefined")
    yield shown
    await page.close()


@pytest.fixture
async def prose(opened: Prose) -> AsyncIterator[Prose]:
    """The page of all tests, of which one shows one text after the other, as it was in the beginning."""
    await opened.page.set_viewport_size({"width": 1280, "height": 720})
    await opened.page.evaluate(
        "() => { document.querySelector('main').replaceChildren(); getSelection().removeAllRanges(); }"
    )
    yield opened
    assert opened.troubles == []


def readable(text: str) -> bool:
    """Whether a text can be sent to a browser as it is: it has no half of a character."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


def mixtures(seed: int, count: int) -> list[str]:
    """Return texts made of lines of the specification, and long paragraphs of many marks."""
    rng = random.Random(seed)
    lines = [line for example in EXAMPLES for line in example["markdown"].split("\n")]
    words = [
        "alpha",
        "beta",
        "*gamma*",
        "`code`",
        "**bold",
        "text**",
        "[ref]",
        "[link](http://e.com/a)",
        "2",
        "*",
        "3",
        "snake_case",
        "&amp;",
        "<http://a.b/c>",
        "http://x.org/y",
        "\\*",
        "~~old~~",
        "_em_",
        "漢字かな交じり文、長い文。",
        "[note]",
        "עברית",
    ]
    made = []
    for _ in range(count):
        text = ""
        for _ in range(rng.randint(2, 14)):
            begin = rng.choice(["", "", "", "- ", "> ", "1. ", "  ", "    ", "| "])
            text += begin + rng.choice(lines) + rng.choice(["\n", "\n", "\n\n"])
        made.append(text)
    for _ in range(count // 15):
        paragraph = " ".join(rng.choice(words) for _ in range(rng.randint(100, 3000)))
        made.append(f"{paragraph}\n\n[ref]: http://ref.example/\n\n[note]: /n\n")
    return made


class Outline(HTMLParser):
    """Which blocks and marks HTML holds, inside of which."""

    BLOCKS: Final = frozenset(
        [
            "h1",
            "h2",
            "h3",
            "h4",
            "h5",
            "h6",
            "ul",
            "ol",
            "li",
            "blockquote",
            "pre",
            "hr",
            "em",
            "strong",
        ]
    )

    def __init__(self, shift: int) -> None:
        super().__init__()
        self.found: list[str] = []
        self.tags: set[str] = set()
        self._shift = shift

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002  # its base calls it so
        self.tags.add(tag)
        if tag in self.BLOCKS:
            self.found.append(self._name(tag))

    def handle_endtag(self, tag: str) -> None:
        if tag in self.BLOCKS and tag != "hr":
            self.found.append(f"/{self._name(tag)}")

    def _name(self, tag: str) -> str:
        if tag[0] == "h" and tag[1:].isdigit():
            return f"h{min(int(tag[1:]) + self._shift, 6)}"
        return tag


def outline(html: str, shift: int = 0) -> Outline:
    read = Outline(shift)
    read.feed(html)
    return read


@pytest.mark.requirement("page:markdown:commonmark")
async def test_prose_has_the_structure_of_the_specification(prose: Prose) -> None:
    known = Outline.BLOCKS | {"p", "code", "a", "img", "br"}
    examples = [
        example
        for example in EXAMPLES
        if example["section"] not in {"HTML blocks", "Raw HTML"}
        and not re.search("<(?:a|img) ", example["markdown"])
        and outline(example["html"]).tags <= known
    ]
    shown = await prose.run(
        "return argument.map((text) => html(whole(text)))", [it["markdown"] for it in examples]
    )
    differing = [
        example["example"]
        for example, html in zip(examples, shown, strict=True)
        if outline(html).found != outline(example["html"], 2).found
    ]

    assert len(examples) > 550
    assert differing == []


@pytest.mark.requirement("page:markdown:cutting")
async def test_the_document_does_not_depend_on_how_it_was_cut(prose: Prose) -> None:
    rng = random.Random(6)
    texts = [*(example["markdown"] for example in EXAMPLES), *OWN, *mixtures(6, 45)]
    cases = [
        [text, [1] if number % 2 and len(text) < 3_000 else [rng.randint(1, 19) for _ in range(7)]]
        for number, text in enumerate(texts)
        if len(text) < 30_000 and readable(text)
    ]
    differing = await prose.run(
        """return argument.filter(([text, sizes]) => bare(cut(text, sizes)) !== bare(whole(text)))
             .map(([text]) => text)""",
        cases,
    )

    assert len(cases) > 700
    assert differing == []


@pytest.mark.requirement("page:markdown:frozen")
async def test_what_ended_stays_the_same_elements_and_selected(prose: Prose) -> None:
    verdict = await prose.run(
        """
        const view = make();
        view.append("First *words* here.\\n\\n- one\\n- two\\n\\n```js\\nlet a = 1;\\n```\\n\\n");
        const before = all(view, "p, em, ul, li, figure");
        getSelection().selectAllChildren(before[0]);
        for (let turn = 0; turn < 1000; turn++) view.append(turn % 10 ? "word " : "\\n\\n- item ");
        view.finish();
        return [before.every((element) => element.isConnected), String(getSelection())];
        """
    )

    assert verdict == [True, "First words here."]


@pytest.mark.requirement("page:markdown:frozen")
async def test_words_of_a_paragraph_that_is_still_written_stay_too(prose: Prose) -> None:
    kept = await prose.run(
        """
        const view = make();
        for (let turn = 0; turn < 400; turn++) view.append("word *x* ");
        const early = all(view, "em")[3];
        for (let turn = 0; turn < 4000; turn++) view.append("word *x* ");
        return early.isConnected && all(view, "em")[3] === early;
        """
    )

    assert kept


ORDINARY: Final = {
    "words": "word ",
    "emphasis": "some *words* and ",
    "lines": "one line\n",
    "paragraphs": "one paragraph\n\n",
    "items": "- item\n",
    "rows": "| a | b |\n",
    "code": "let a = 1;\n",
}


@pytest.mark.requirement("page:markdown:linear")
@pytest.mark.parametrize("kind", ORDINARY)
async def test_a_token_costs_the_same_at_any_length(prose: Prose, kind: str) -> None:
    begin = {"rows": "| a | b |\n|---|---|\n", "code": "```js\n"}.get(kind, "")
    early, late = await prose.run(
        """
        const view = make();
        view.append(argument.begin);
        const costs = [0, 0];
        for (let part = 0; part < 10; part++) {
          const before = view.parsedChars;
          for (let turn = 0; turn < 400; turn++) view.append(argument.token);
          costs[part === 1 ? 0 : 1] = view.parsedChars - before;
        }
        return costs;
        """,
        {"begin": begin, "token": ORDINARY[kind]},
    )

    assert 0 < late <= 1.5 * early + 1_000


# Marks that make parsers read everything again and again.
FLOODS: Final = {
    **{
        mark: mark
        for mark in (
            "[", "![", "]", "[a](<b ", '[a](b "c', "*a ", "a* ", "*_", "**a **b ", "a**b", "a~~b ~~",
            "<", "<a ", "<http://a", "<!-- ", "<![CDATA[", "` `` ", "`a``b", "&amp;", "&", "\\", "\\*",
            "a\\\n", "a  \n", "[a]: u\n[b", "[a]:\n", "http://", "mailto:a@", "http://a/[", "http://a/'",
            "[a] ", "|", "|\n", "> ", "- ", "1. ", "> - ", "# ", "\u202e", "\u0301", "漢字",
        )
    },
    "brackets around": "[" * 8_000 + "]" * 8_000,
    "pictures in pictures": "![" * 5_000 + "](u)" * 5_000,
    "quotes in quotes": ">" * 10_000,
    "backticks of all lengths": " ".join("`" * length for length in range(1, 200)),
    "references": "[a] " * 4_000 + "\n\n[a]: http://x/" + "u" * 1_000 + "\n",
    "definitions": "".join(f"[a{number}] " for number in range(2_000))
    + "\n\n"
    + "".join(f"[a{number}]: http://e/{number}\n" for number in range(2_000)),
    "cells": "|" + "a|" * 500 + "\n|" + "-|" * 500 + "\n" + "|\n" * 100,
}  # fmt: skip
FLOOD_CHARS: Final = 9_000
READS_MAX: Final = 40
"""How often a character of the most hostile text is read as it streams, 64 at a time."""


@pytest.mark.requirement("page:markdown:hostile")
async def test_no_flood_of_marks_costs_more_than_its_length(prose: Prose) -> None:
    texts = [
        text if len(text) > 1_000 else text * (FLOOD_CHARS // len(text)) for text in FLOODS.values()
    ]
    costs = await prose.run(
        """return argument.map((text) => {
             const view = cut(text, [64]);
             return [view.parsedChars / text.length, bare(view) === bare(whole(text))];
           })""",
        texts,
    )
    found = dict(zip(FLOODS, costs, strict=True))

    assert {mark: cost for mark, (cost, _) in found.items() if cost > READS_MAX} == {}
    assert [mark for mark, (_, is_same) in found.items() if not is_same] == []


@pytest.mark.requirement("page:markdown:hostile")
async def test_one_paragraph_of_many_marks_is_read_in_sections(prose: Prose) -> None:
    text = "*a `b` " * 1_000 + "x" * 20_000 + " **strong** end" + " *a* _b_" * 3_000
    verdict = await prose.run(
        "const v = whole(argument); return [all(v, 'p').length, all(v, 'strong').length, "
        "all(v, 'em').length, all(v, '[dir=auto]').length]",
        text,
    )

    assert verdict[:2] == [1, 1]
    assert verdict[2] >= 6_000
    # Browsers would look for the first letter again with every element that is added.
    assert verdict[3] == 0


# The page's clock goes on by 3 ms each time that it is read, and its idle moments come when they are asked for.
IDLE: Final = """
  const { now } = performance, idle = requestIdleCallback, cancel = cancelIdleCallback;
  const waiting = [];
  let time = 0;
  performance.now = () => (time += 3);
  window.requestIdleCallback = (work) => waiting.push(work);
  window.cancelIdleCallback = (handle) => { waiting[handle - 1] = null; };
  const step = () => {
    const at = waiting.findIndex((work) => work !== null);
    if (at < 0) return false;
    const work = waiting[at];
    waiting[at] = null;
    work();
    return true;
  };
  const restore = () => {
    performance.now = now;
    window.requestIdleCallback = idle;
    window.cancelIdleCallback = cancel;
  };
  const same = (view, text) => bare(view) === bare(whole(text));
"""
VAST: Final = {
    "words": "some *words* and `code` that go on. " * 4_000,
    "paragraphs": "".join(f"Paragraph *{number}* of many.\n\n" for number in range(3_000)),
    "items": "".join(f"- item *{number}*\n" for number in range(5_000)),
    "rows": "| a | b |\n|---|---|\n" + "".join(f"| {number} | *b* |\n" for number in range(3_000)),
    "code": "```\n" + "let a = 1;\n" * 10_000 + "```\n",
    "quotes": "".join(f"{'> ' * (number % 32 + 1)}- *a*\n" for number in range(2_000)),
    "late": "[a] " * 3_000 + "\n\n" + "- [a]\n" * 3_000 + "\n[a]: http://example.org/\n",
    "windows": "one line\r\n\r\n" * 6_000,
}
SLICE_READS_MAX: Final = 250_000
"""Characters that one slice of three draws reads, whatever they are: each draw at most 8,192, some of them ten times."""


@pytest.mark.requirement("page:markdown:slices")
@pytest.mark.parametrize("kind", VAST)
async def test_what_comes_in_one_piece_is_drawn_in_slices(prose: Prose, kind: str) -> None:
    reads, is_same, drawn = await prose.run(
        IDLE
        + """
        const view = make();
        view.append(argument);
        view.finish();
        const reads = [view.parsedChars];
        while (step()) reads.push(view.parsedChars);
        restore();
        const steps = reads.map((read, at) => read - (reads[at - 1] ?? 0));
        return [steps, same(view, argument), 'waiting' in view.element.dataset];
        """,
        VAST[kind],
    )

    assert len(reads) > len(VAST[kind]) // (4 * 8_192)
    assert max(reads) < SLICE_READS_MAX
    assert is_same
    assert not drawn


@pytest.mark.requirement("page:markdown:pending")
async def test_no_text_that_waits_is_lost_or_comes_too_late(prose: Prose) -> None:
    verdict = await prose.run(
        IDLE
        + """
        const { items, paragraphs } = argument, found = [];
        // More of it comes, and its end.
        let view = make();
        view.append("Begun.\\n\\n");
        view.append(items);
        step();
        view.append("- one more");
        step();
        view.append(argument.end);
        view.finish();
        while (step());
        found.push(["grown", same(view, `Begun.\\n\\n${items}- one more${argument.end}`)]);
        found.push(["ended", all(view, "a").map((it) => it.textContent).join() === "really"]);
        // Another text takes its place.
        view = make();
        view.append(items);
        step();
        view.set(paragraphs, true);
        step();
        view.set("Another text.", false);
        while (step());
        found.push(["replaced", html(view) === html(whole("Another text."))]);
        view.set(paragraphs, false);
        while (step());
        found.push(["anew", same(view, paragraphs)]);
        // It is taken away.
        view = make();
        view.append(items);
        view.finish();
        const before = html(view);
        view.destroy();
        found.push(["gone", !step() && html(view) === before]);
        // Somebody looks for a place in it.
        view = make();
        view.append(items);
        view.finish();
        view.complete();
        found.push(["completed", !step() && same(view, items)]);
        restore();
        return found;
        """,
        # Only once it is all there is it known what the last line is.
        VAST | {"end": " thing\n\nThe end, [really].\n\n[really]: http://example.org/"},
    )

    assert [name for name, is_right in verdict if not is_right] == []
    assert len(verdict) == 6


@pytest.mark.requirement("page:markdown:parts")
async def test_blocks_behind_the_first_ones_stand_in_parts_and_stay_there(prose: Prose) -> None:
    verdict = await prose.run(
        """
        const text = argument.blocks + "\\n\\n" + argument.list;
        const view = make();
        const homes = new Map();
        let moved = 0;
        for (let at = 0; at < text.length; at += 997) {
          view.append(text.slice(at, at + 997));
          for (const element of all(view, ".md > p, .md-part > p, li.md-item")) {
            if (homes.has(element) && homes.get(element) !== element.parentNode) moved += 1;
            homes.set(element, element.parentNode);
          }
        }
        view.finish();
        const full = all(view, ".md-part-full");
        const last = all(view, "li.md-item").at(-1);
        const lists = all(view, "ol.md-list");
        const skipped = full.filter((part) => !part.checkVisibility({ contentVisibilityAuto: true }) ||
          !part.firstElementChild.checkVisibility({ contentVisibilityAuto: true }));
        return {
          moved,
          isSame: bare(view) === bare(whole(text)),
          most: Math.max(...all(view, "*").map((element) => element.childElementCount)),
          direct: view.element.childElementCount,
          full: full.length,
          starts: lists.map((list) => list.start),
          skipped: skipped.length,
          last: last.textContent,
        };
        """,
        {
            "blocks": "".join(
                f"## Heading {number}\n\nParagraph {number}.\n\n---\n\n" for number in range(200)
            ),
            "list": "".join(f"{number}. item\n" for number in range(5, 305)),
        },
    )

    assert verdict["moved"] == 0
    assert verdict["isSame"]
    assert verdict["most"] <= 64 + 10
    assert verdict["direct"] == 64 + 9
    assert verdict["full"] == 8 + 3
    assert verdict["starts"] == [5, 5 + 64, 5 + 128, 5 + 192, 5 + 256]
    assert verdict["skipped"] > 5
    assert verdict["last"] == "item"


@pytest.mark.requirement("page:markdown:parts")
@pytest.mark.parametrize("piece", ["- item\n", "Words.\n\n", "> quoted\n>\n"])
async def test_one_block_more_changes_as_much_at_any_length(prose: Prose, piece: str) -> None:
    early, late = await prose.run(
        """
        const view = make();
        const observer = new MutationObserver(() => undefined);
        observer.observe(view.element, { subtree: true, childList: true, attributes: true, characterData: true });
        const changes = (count) => {
          for (let turn = 0; turn < count; turn++) view.append(argument);
          return observer.takeRecords().length;
        };
        changes(64);
        const early = changes(640);
        changes(5000);
        const late = changes(640);
        return [early, late];
        """,
        piece,
    )

    assert early > 640
    assert late <= 1.1 * early


@pytest.mark.requirement("page:markdown:marks")
async def test_many_marks_on_one_letter_are_counted_and_copied_whole(prose: Prose) -> None:
    marks = "\u0301" * 5_000
    shown, code, copied = await prose.run(
        """
        const view = whole(`a${argument} b`);
        const words = all(view, "p")[0].textContent;
        const block = code("", `a${argument}`);
        block.element.querySelector("button").click();
        return [words, block.element.querySelector("code").textContent, copied.pop()];
        """,
        marks,
    )

    assert shown == "a" + marks[:30] + "<+4970 marks> b"
    assert code == "a" + marks[:30] + "<+4970 marks>\n"
    assert copied == "a" + marks


WRAPPED: Final = (
    "%s", "[%s](http://e.com)", "- item %s", "| h |\n|---|\n| %s |", "```\n%s\n```", "# %s",
    "![%s](http://e.com/i.png)", "> **%s**", "<%s>", '[x](http://e.com "%s")',
    "[r]\n\n[r]: http://e.com '%s'\n", "```%s\ncode\n```", "$%s$ $$%s$$",
)  # fmt: skip
ODD: Final = """
  const tags = new Set(argument.tags), names = new Set(argument.names), odd = [];
  for (const [number, text] of argument.texts.entries()) {
    const view = number % 2 ? whole(text, argument.maths) : cut(text, text.length > 5000 ? [97] : [1, 7, 3], argument.maths);
    for (const element of all(view, "*")) {
      if (!tags.has(element.localName) && element.namespaceURI !== "http://www.w3.org/1998/Math/MathML") odd.push(element.outerHTML);
      for (const { name, value } of element.attributes) {
        if (element.namespaceURI.endsWith("MathML") ? /^on|href|src|style/.test(name) : !names.has(name)) odd.push(`${name}=${value}`);
        if (name === "href" && !/^(https?:\\/\\/|mailto:)/i.test(value)) odd.push(value);
        if (name === "rel" && value !== "noopener noreferrer nofollow") odd.push(value);
      }
      if (element.localName === "a" && (element.target !== "_blank" || element.rel === "" || element.title === "")) odd.push(element.outerHTML);
    }
    for (const element of all(view, "button, pre, input")) { element.click(); element.focus(); }
  }
  return [odd, removedCount()];
"""
TAGS: Final = [
    "p",
    "h3",
    "h4",
    "h5",
    "h6",
    "a",
    "br",
    "code",
    "em",
    "s",
    "span",
    "strong",
    "ul",
    "ol",
    "li",
    "blockquote",
    "hr",
    "div",
    "table",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "figure",
    "figcaption",
    "bdi",
    "button",
    "pre",
    "input",
]
NAMES: Final = [
    "class",
    "dir",
    "href",
    "title",
    "target",
    "rel",
    "start",
    "type",
    "disabled",
    "checked",
    "aria-label",
    "tabindex",
    "role",
    "scope",
    "style",
]


@pytest.mark.requirement(
    "page:markdown:inert",
    "page:markdown:sanitiser",
    "page:markdown:no-load",
    "page:markdown:links",
)
@pytest.mark.parametrize("maths", [False, True])
async def test_no_payload_becomes_anything_but_what_markdown_makes(
    prose: Prose, maths: bool
) -> None:
    own = [text for text in OWN if readable(text)]
    texts = own + [
        wrap.replace("%s", payload)
        for number, payload in enumerate(filter(readable, PAYLOADS))
        for wrap in (WRAPPED[number % 8 :: 8] if maths else WRAPPED[number % 5 :: 5])
    ]
    if maths:
        await prose.run("whole('$x$', true)")
        await prose.page.wait_for_selector("math")
    before = len(prose.requests)
    odd, removed = await prose.run(
        ODD, {"texts": texts, "tags": TAGS, "names": NAMES, "maths": maths}
    )

    assert odd == []
    assert removed == 0
    # Only the colours of a language, from the page's own files.
    assert [path for path in prose.requests[before:] if not path.endswith(".js")] == []


@pytest.mark.requirement("page:markdown:misleading")
@pytest.mark.parametrize(
    ("text", "is_beside"),
    [
        ("[https://good.example](https://evil.example/x)", True),
        ("[good.com](https://evil.example/x)", True),
        ("[words](https://good.com@evil.example/x)", True),
        ("[words](https://xn--80ak6aa92e.com/)", True),
        ("[words](https://good.example/x)", False),
        ("[good.example/x](https://good.example/x)", False),
        ("https://good.example/x", False),
    ],
)
async def test_an_address_stands_beside_words_that_mislead(
    prose: Prose, text: str, is_beside: bool
) -> None:
    shown = await prose.run("const v = whole(argument); return all(v, '.md-target').length", text)

    assert bool(shown) == is_beside


CODE: Final = "".join(
    f'export function f{number}(a: string) {{ return `${{a}}` + "\\u00e9" /* é\t */; }}\n'
    for number in range(4_300)
)


@pytest.mark.requirement("page:markdown:code")
async def test_a_vast_fence_is_shown_and_copied_as_it_was_written(prose: Prose) -> None:
    assert len(CODE) > 300_000
    verdict = await prose.run(
        """
        const view = cut("```ts\\n" + argument + "```\\n", [4096, 1, 77]);
        const shown = all(view, "pre code")[0];
        all(view, ".md-copy")[0].click();
        while (!view.element.querySelector(".md-keyword")) await new Promise((done) => setTimeout(done, 5));
        return [shown.textContent === argument, copied.at(-1) === argument.replace(/\\n$/, "")];
        """,
        CODE,
    )

    assert verdict == [True, True]


@pytest.mark.requirement("page:markdown:code-linear")
async def test_a_line_of_code_leaves_the_lines_before_it_alone(prose: Prose) -> None:
    changed = await prose.run(
        """
        const view = make();
        view.append("```js\\n" + "const a = 'b';\\n".repeat(500));
        while (all(view, ".md-keyword").length < 500) await new Promise((done) => setTimeout(done, 5));
        const lines = all(view, ".md-lines");
        let touched = 0;
        const observer = new MutationObserver((records) => { touched += records.length; });
        for (const group of lines.slice(0, -1)) observer.observe(group, { childList: true, subtree: true, characterData: true });
        const { parsedChars } = view;
        for (let turn = 0; turn < 300; turn++) view.append("const c = 'd';\\n");
        await new Promise((done) => setTimeout(done, 0));
        return [touched, (view.parsedChars - parsedChars) / (300 * 15), all(view, ".md-keyword").length];
        """
    )

    assert changed[0] == 0
    assert changed[1] <= 2
    assert changed[2] == 800


@pytest.mark.requirement("page:markdown:money")
async def test_formulas_are_off_until_they_are_asked_for_and_money_is_money(prose: Prose) -> None:
    text = "$x^2$ costs $5 or $6, and \\(y\\)."
    off = await prose.run("return whole(argument).element.textContent", text)
    await prose.run("whole(argument, true)", text)
    await prose.page.wait_for_selector("math")
    count, words = await prose.run(
        "const v = document.querySelector('.md'); "
        "return [v.querySelectorAll('math').length, v.textContent]"
    )

    assert off == "$x^2$ costs $5 or $6, and (y)."
    assert count == 2
    assert "costs $5 or $6, and" in words


@pytest.mark.requirement("page:markdown:formula-source")
async def test_a_formula_that_cannot_be_read_is_shown_as_written(prose: Prose) -> None:
    text = "$\\frac{$ and $\\nosuch{a}$ and $x$"
    await prose.run("whole(argument, true)", text)
    await prose.page.wait_for_selector("math")
    words = await prose.page.locator(".md").inner_text()

    assert "$\\frac{$" in words


@pytest.mark.requirement("page:markdown:scroll")
async def test_what_is_wide_scrolls_by_itself_and_has_a_name(prose: Prose) -> None:
    await prose.page.set_viewport_size({"width": 390, "height": 800})
    text = (
        "|" + "word|" * 60 + "\n|" + "-|" * 60 + "\n\n```\n" + "x" * 900 + "\n```\n\n" + "y" * 900
    )
    found = await prose.run(
        """
        const view = whole(argument);
        const wide = all(view, ".md-table, .md-code-body").map((element) => {
          element.focus();
          element.scrollLeft = 50;
          return [document.activeElement === element, element.scrollLeft, element.getAttribute("aria-label") !== null];
        });
        return [wide, document.documentElement.scrollWidth];
        """,
        text,
    )

    assert found == [[[True, 50, True], [True, 50, True]], 390]


@pytest.mark.requirement("page:markdown:tasks")
async def test_boxes_of_tasks_are_disabled_and_say_what_they_are(prose: Prose) -> None:
    boxes = await prose.run(
        "const v = cut('- [x] done\\n- [ ] open\\n- [y] none\\n', [1]); return all(v, 'input').map("
        "(box) => [box.disabled, box.checked, box.getAttribute('aria-label') !== ''])"
    )

    assert boxes == [[True, True, True], [True, False, True]]


@pytest.mark.requirement("page:markdown:direction")
@pytest.mark.parametrize("sizes", [[1], [10_000]])
async def test_a_block_runs_as_its_first_letter_does(prose: Prose, sizes: list[int]) -> None:
    text = "שלום *world*\n\n1. 123 **مرحبا**\n\nhello עולם\n\n```\nשלום\n```\n\n123\n"
    found = await prose.run(
        "const v = cut(...argument); return [...v.element.children].map((it) => it.dir)",
        [text, sizes],
    )

    assert found == ["rtl", "rtl", "ltr", "ltr", "ltr"]
