"""Messages and blocks as a browser shows them: every type in every state, kept in place."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped]  # no py.typed
from playwright.sync_api import Page, Route, sync_playwright

from tests.page.conftest import chromium
from tests.web.agreement import WEB, missing_tool

pytestmark = pytest.mark.browser

ORIGIN: Final = "http://gallery.test"
STYLES: Final = ("tokens", "markdown", "blocks")
PHONE: Final = {"width": 390, "height": 844}
SETTLED: Final = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 0)))"


def require_tools() -> None:
    """Skip with the reason where the machine lacks something; fail in CI."""
    lacking = missing_tool("chromium")
    if lacking is None:
        return
    if os.environ.get("CI") == "true":
        pytest.fail(lacking, pytrace=False)
    pytest.skip(lacking)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    require_tools()
    built = tmp_path_factory.mktemp("gallery")
    subprocess.run(["node", "page/test/bundle.mjs", str(built)], cwd=WEB, check=True)
    return built


class Gallery:
    """A page with the gallery's module in it, and nothing else than what a test shows."""

    def __init__(self, page: Page, folder: Path) -> None:
        self.page = page
        self.requests: list[str] = []
        self.troubles: list[str] = []
        self._folder = folder
        page.route("**/*", self._serve)
        page.on("pageerror", lambda error: self.troubles.append(str(error)))

    def open(self, query: str = "empty=1") -> None:
        self.page.goto(f"{ORIGIN}/?{query}")
        self.page.wait_for_function("window.gallery !== undefined")

    def run(self, script: str, argument: Any = None) -> Any:
        """Evaluate a function of the gallery."""
        body = f"async (argument) => {{ const g = window.gallery; {script} }}"
        return self.page.evaluate(body, argument)

    def settle(self) -> None:
        self.page.evaluate(SETTLED)

    @property
    def said(self) -> list[str]:
        return list(self.run("return g.said"))

    def _serve(self, route: Route) -> None:
        path = route.request.url.removeprefix(ORIGIN).partition("?")[0]
        self.requests.append(path)
        if path == "/":
            links = "".join(f'<link rel="stylesheet" href="/{name}.css">' for name in STYLES)
            script = '<script type="module" src="/gallery.js"></script>'
            route.fulfill(
                body=f'<!doctype html><html lang="en"><title>x</title>{links}<main id="gallery"></main>{script}',
                content_type="text/html",
            )
        elif path.endswith(".css"):
            style = WEB / "page" / "src" / "styles" / path.removeprefix("/")
            route.fulfill(body=style.read_text(encoding="utf-8"), content_type="text/css")
        elif (found := self._folder / path.removeprefix("/")).is_file():
            route.fulfill(body=found.read_text(encoding="utf-8"), content_type="text/javascript")
        else:
            route.fulfill(status=404, body="")


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    require_tools()
    path = chromium()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        yield browser.new_page(viewport={"width": 1280, "height": 900})
        browser.close()


@pytest.fixture
def gallery(page: Page, folder: Path) -> Iterator[Gallery]:
    page.unroute_all()
    page.set_viewport_size({"width": 1280, "height": 900})
    opened = Gallery(page, folder)
    opened.open()
    yield opened
    assert opened.troubles == []


GROWING: Final = """
  const { started, delta, completed, ended } = g.made;
  const states = g.made.story([
    started({ id: "r", type: "reasoning", text: "" }),
    delta("r", "text", "Think"),
    delta("r", "text", " twice."),
    completed("r"),
    started({ id: "t", type: "tool", tool: "look", status: "pending", input: { a: 1 } }),
    { type: "content.block.updated", block_id: "t", set: { status: "running" } },
    { type: "content.block.updated", block_id: "t", set: { status: "completed", output: "found" } },
    completed("t"),
    started({ id: "p", type: "prose", markdown: "" }),
    delta("p", "markdown", "One "),
    delta("p", "markdown", "two."),
    completed("p"),
    ended("completed"),
  ]);
"""


@pytest.mark.requirement("page:blocks:in-place")
def test_elements_of_blocks_are_the_same_from_the_first_token_to_the_end(gallery: Gallery) -> None:
    verdict = gallery.run(
        GROWING
        + """
        const view = g.show(states[0]);
        const seen = new Map();
        const anew = [];
        for (const state of states.slice(1)) {
          view.update(state);
          for (const block of state.blocks) {
            const element = view.blockElement(block.id);
            if (seen.has(block.id) && seen.get(block.id) !== element) anew.push(block.id);
            seen.set(block.id, element);
          }
        }
        return { anew, ids: [...seen.keys()], text: view.element.textContent };
        """
    )

    assert verdict["anew"] == []
    assert verdict["ids"] == ["r", "t", "p"]
    assert "Think twice." in verdict["text"]
    assert "One two." in verdict["text"]


@pytest.mark.requirement("page:blocks:in-place")
def test_what_is_open_selected_and_focused_stays_so_while_an_answer_grows(
    gallery: Gallery,
) -> None:
    gallery.run(
        GROWING
        + """
        window.view = g.show(states[0]);
        window.rest = states.slice(1);
        for (const state of rest.splice(0, 6)) view.update(state);
        for (const details of view.element.querySelectorAll("details")) details.open = true;
        """
    )
    gallery.settle()
    verdict = gallery.run(
        """
        const summary = view.blockElement("t").querySelector("summary");
        summary.focus();
        const text = view.blockElement("r").querySelector(".bk-reasoning-text").firstChild;
        getSelection().setBaseAndExtent(text, 0, text, 5);
        for (const state of rest) view.update(state);
        const opened = [...view.element.querySelectorAll("details")].map((one) => one.open);
        return {
          opened, focused: document.activeElement === summary, selected: String(getSelection()),
          output: view.blockElement("t").textContent,
        };
        """
    )

    assert verdict["opened"] == [True, True]
    assert verdict["focused"]
    assert verdict["selected"] == "Think"
    assert "found" in verdict["output"]


@pytest.mark.requirement("page:blocks:in-place")
def test_a_snapshot_of_the_same_message_changes_no_element(gallery: Gallery) -> None:
    verdict = gallery.run(
        """
        const block = (id) => ({ id, type: "prose", markdown: `text of ${id}` });
        const message = (ids) => g.made.finished("assistant", ids.map(block), { id: "m" });
        const view = g.show(message(["a", "b", "c"]));
        const before = ["a", "b", "c"].map((id) => view.blockElement(id));
        let changes = 0;
        const observer = new MutationObserver((records) => { changes += records.length; });
        observer.observe(view.element, { subtree: true, childList: true, characterData: true });
        view.update(message(["a", "b", "c"]));
        await new Promise((done) => setTimeout(done, 0));
        const quiet = changes;
        view.update(message(["c", "x", "a"]));
        const order = [...view.element.querySelectorAll("[data-block-id]")];
        const button = view.blockElement("c").querySelector("button");
        button.focus();
        view.update(message(["c", "a"]));
        return {
          quiet,
          focused: document.activeElement === button,
          order: order.map((one) => one.dataset.blockId),
          kept: order[0] === before[2] && order[2] === before[0],
          gone: view.blockElement("b"),
        };
        """
    )

    assert verdict == {
        "quiet": 0,
        "focused": True,
        "order": ["c", "x", "a"],
        "kept": True,
        "gone": None,
    }


@pytest.mark.requirement("page:blocks:cost")
def test_a_token_touches_only_its_own_block(gallery: Gallery) -> None:
    touched = gallery.run(
        """
        const { started, delta, completed } = g.made;
        const events = [];
        for (let i = 0; i < 50; i += 1) {
          events.push(started({ id: `b${i}`, type: "prose", markdown: `Block ${i}.` }), completed(`b${i}`));
        }
        events.push(started({ id: "last", type: "reasoning", text: "x" }), delta("last", "text", "y".repeat(9)));
        for (let i = 0; i < 20; i += 1) events.push(delta("last", "text", "z"));
        const states = g.made.story(events);
        const view = g.show(states.at(-21));
        const records = [];
        const observer = new MutationObserver((found) => records.push(...found));
        const what = { subtree: true, childList: true, characterData: true, attributes: true };
        observer.observe(view.element, what);
        for (const state of states.slice(-20)) view.update(state);
        await new Promise((done) => setTimeout(done, 0));
        const last = view.blockElement("last");
        const text = records.filter((one) => one.type !== "attributes");
        return { outside: records.filter((one) => !last.contains(one.target) ).length, texts: text.length };
        """
    )

    assert touched == {"outside": 0, "texts": 20}


@pytest.mark.requirement("page:blocks:beginning")
def test_the_first_token_moves_nothing(gallery: Gallery) -> None:
    heights = gallery.run(
        """
        const { started, delta } = g.made;
        const states = g.made.story([
          started({ id: "p", type: "prose", markdown: "" }), delta("p", "markdown", "Six"),
        ]);
        const view = g.show(states[0]);
        const heights = [view.element.offsetHeight];
        for (const state of states.slice(1)) {
          view.update(state);
          heights.push(view.element.offsetHeight);
        }
        return heights;
        """
    )

    assert len(set(heights)) == 1, heights


@pytest.mark.requirement("page:blocks:inert")
def test_ids_names_and_texts_of_others_become_nothing_but_text(gallery: Gallery) -> None:
    evil = '"><img src=x onerror=alert(1)><script>alert(1)</script>'
    verdict = gallery.run(
        """
        const evil = argument;
        const of = (id, type, more) => ({ id, type, ...more });
        const view = g.show(g.made.finished("assistant", [
          of(evil, "tool", { tool: evil, status: "failed", input: { a: evil }, output: evil, error: evil }),
          of("body", "reasoning", { text: evil }),
          of("e", "error", { code: "x", message: evil }),
          of("n", "notice", { code: "constructor", message: evil }),
          of("a", "attachment", { attachment_id: evil, name: evil, media_type: evil }),
          of("s", "speech", { text: evil }),
          of("u", "__proto__", { fallback_text: evil }),
          of("u2", "constructor", { onclick: evil, style: "color:red", markdown: evil }),
          of("c", "code", { text: evil, language: evil }),
        ], { author: evil, model: evil, id: evil }));
        for (const details of view.element.querySelectorAll("details")) details.open = true;
        await new Promise((done) => setTimeout(done, 30));
        const all = [...view.element.querySelectorAll("*")];
        return {
          foreign: all.filter((one) => /^(script|img|iframe|object|embed|style)$/i.test(one.tagName)).length,
          handlers: all.flatMap((one) => one.getAttributeNames()).filter((name) => /^(on|style|srcdoc)/.test(name)),
          ids: all.map((one) => one.id).filter((id) => id && !id.startsWith("bk-")),
          found: view.blockElement(evil) !== null,
          unknown: view.blockElement("u").textContent,
        };
        """,
        evil,
    )

    assert verdict == {
        "foreign": 0,
        "handlers": [],
        "ids": [],
        "found": True,
        "unknown": f"[__proto__]{evil}",
    }


@pytest.mark.requirement("page:blocks:controls")
def test_what_acts_unseen_has_a_label(gallery: Gallery) -> None:
    text = gallery.run(
        """
        const view = g.show(g.made.told([{ type: "turn.suspended", request: {
          id: "r", kind: "approval", prompt: "Delete \\u202egnp.exe\\u0007?" } }]));
        return view.element.querySelector(".bk-request-prompt").textContent;
        """
    )

    assert text == "Delete <U+202E>gnp.exe\u2407?"


def asked(gallery: Gallery, request: dict[str, Any]) -> None:
    gallery.run(
        """
        window.states = g.made.story([
          { type: "turn.suspended", request: argument },
          { type: "turn.resumed", request_id: argument.id, answer: true },
        ]);
        window.view = g.show(states[1]);
        """,
        request,
    )


APPROVAL: Final[dict[str, Any]] = {"id": "req_1", "kind": "approval", "prompt": "Delete 3 files?"}
CHOICE: Final[dict[str, Any]] = {
    "id": "req_2",
    "kind": "question",
    "prompt": "Which branch?",
    "options": ["main", {"name": "other", "n": 3}],
}


@pytest.mark.requirement("page:blocks:answers")
@pytest.mark.parametrize(
    ("request_", "button", "answer"),
    [
        (APPROVAL, "Approve", "true"),
        (APPROVAL, "Decline", "false"),
        (CHOICE, "1. main", '"main"'),
        (CHOICE, '2. {"name":"other","n":3}', '{"name":"other","n":3}'),
    ],
)
def test_each_answer_that_is_offered_has_a_button(
    gallery: Gallery, request_: dict[str, Any], button: str, answer: str
) -> None:
    asked(gallery, request_)

    gallery.page.get_by_role("button", name=button).click()

    (said,) = gallery.said
    assert said.endswith(f" {request_['id']} {answer}")


@pytest.mark.requirement("page:blocks:answers")
@pytest.mark.parametrize(("typed", "answer"), [("2", '{"name":"other","n":3}'), (" a b ", '"a b"')])
def test_a_text_answers_as_in_the_terminal(gallery: Gallery, typed: str, answer: str) -> None:
    asked(gallery, CHOICE)

    field = gallery.page.get_by_role("textbox", name="Which branch?")
    field.fill(typed)
    field.press("Enter")

    (said,) = gallery.said
    assert said.endswith(f" req_2 {answer}")


@pytest.mark.requirement("page:blocks:answers")
def test_an_approval_takes_no_text_and_no_focus(gallery: Gallery) -> None:
    asked(gallery, APPROVAL)

    assert gallery.page.get_by_role("textbox").count() == 0
    assert gallery.page.evaluate("document.activeElement === document.body")


@pytest.mark.requirement("page:blocks:answer-guard")
def test_a_click_that_was_meant_for_something_else_answers_nothing(gallery: Gallery) -> None:
    at_once = gallery.run(
        """
        const view = g.show(g.made.told([{ type: "turn.suspended", request: argument }]));
        const approve = view.element.querySelector(".bk-request button");
        approve.click();
        return approve.matches(":disabled");
        """,
        APPROVAL,
    )

    assert at_once
    gallery.page.get_by_role("button", name="Approve").click()
    assert len(gallery.said) == 1


@pytest.mark.requirement("page:blocks:first-answer")
def test_a_second_answer_is_not_sent_and_the_panel_goes_when_the_turn_goes_on(
    gallery: Gallery,
) -> None:
    asked(gallery, APPROVAL)
    approve = gallery.page.get_by_role("button", name="Approve")
    approve.click()
    gallery.settle()

    assert approve.is_disabled()
    assert len(gallery.said) == 1
    gallery.run("view.element.querySelector('.bk-request').focus(); view.update(states.at(-1))")
    assert gallery.page.locator(".bk-request").count() == 0


@pytest.mark.requirement("page:blocks:first-answer")
@pytest.mark.parametrize("code", ["turn_not_suspended", "request_mismatch", "turn_terminal"])
def test_an_answer_that_came_too_late_is_told_so(gallery: Gallery, code: str) -> None:
    asked(gallery, APPROVAL)
    gallery.run("g.refuse(argument, 'The turn does not wait.')", code)

    gallery.page.get_by_role("button", name="Approve").click()

    told = gallery.page.get_by_text("It waits no more: somebody else answered, or it has ended.")
    told.wait_for()
    assert gallery.page.get_by_role("button", name="Approve").is_disabled()
    assert any(line.startswith("announce ") for line in gallery.said)


@pytest.mark.requirement("page:blocks:answer-failed")
def test_an_answer_that_could_not_be_sent_can_be_given_again(gallery: Gallery) -> None:
    asked(gallery, APPROVAL)
    gallery.run("g.refuse('unreachable', 'No connection.')")
    decline = gallery.page.get_by_role("button", name="Decline")
    decline.click()

    gallery.page.get_by_text("The answer could not be sent: No connection.").wait_for()

    assert decline.is_enabled()
    decline.click()
    assert len([line for line in gallery.said if line.startswith("answer ")]) == 2


@pytest.mark.requirement("page:blocks:rights")
def test_who_may_not_write_sees_the_question_and_can_do_nothing(gallery: Gallery) -> None:
    gallery.open("write=0")

    page = gallery.page
    assert page.get_by_role("button", name="Approve").is_disabled()
    assert page.get_by_text("Somebody who may write has to answer this.").count() == 3
    for name in ("Try again", "Fork from here", "Ask this question again"):
        assert page.get_by_role("button", name=name).count() == 0


@pytest.mark.requirement("page:blocks:ends")
@pytest.mark.parametrize(
    ("status", "code", "word"),
    [
        ("failed", "provider_overloaded", "Failed"),
        ("failed", "turn_interrupted", "Interrupted"),
        ("cancelled", "turn_cancelled", "Stopped"),
    ],
)
def test_an_answer_that_ended_badly_says_so_and_offers_to_try_again(
    gallery: Gallery, status: str, code: str, word: str
) -> None:
    gallery.run(
        """
        const [status, code] = argument;
        const type = status === "failed" ? "error" : "notice";
        const ended = status === "failed" ? { error_code: code } : {};
        window.view = g.show(g.made.told([
          g.made.started({ id: "e", type, code, message: "So it ended." }), g.made.completed("e"),
          g.made.ended(status, ended),
        ]));
        """,
        [status, code],
    )

    assert gallery.page.locator(".bk-standing").inner_text() == word
    assert gallery.page.get_by_text("So it ended.").is_visible()
    gallery.page.get_by_role("button", name="Try again").click()
    assert gallery.said == [f"retry {gallery.run('return view.id')}"]


@pytest.mark.requirement("page:blocks:once")
def test_a_double_click_tries_again_once(gallery: Gallery) -> None:
    gallery.run("g.show(g.made.finished('assistant', [], { status: 'failed' }))")

    gallery.page.get_by_role("button", name="Try again").dblclick()
    gallery.page.get_by_role("button", name="Ask this question again").click()
    gallery.page.get_by_role("button", name="Fork from here").dblclick()

    assert [line.partition(" ")[0] for line in gallery.said] == ["retry", "fork"]


@pytest.mark.requirement("page:blocks:ends")
def test_an_end_that_no_block_tells_of_is_told_below(gallery: Gallery) -> None:
    gallery.run(
        "g.show(g.made.finished('assistant', [{ id: 'p', type: 'prose', markdown: 'x' }],"
        " { status: 'failed' }))"
    )

    assert gallery.page.get_by_text("This answer ended with an error.").is_visible()
    assert gallery.page.get_by_role("button", name="Try again").is_visible()


@pytest.mark.requirement("page:blocks:large-values")
def test_a_large_value_of_a_tool_is_bounded_until_all_of_it_is_asked_for(gallery: Gallery) -> None:
    verdict = gallery.run(
        """
        const output = Array.from({ length: 3000 }, (_, line) => `line ${line}`).join("\\n");
        const view = g.show(g.made.finished("assistant", [
          { id: "t", type: "tool", tool: "look", status: "completed", output },
        ]));
        const closed = view.element.querySelectorAll(".bk-value").length;
        view.element.querySelector("details").open = true;
        await new Promise((done) => setTimeout(done, 30));
        const box = view.element.querySelector(".bk-value");
        const first = box.textContent.split("\\n").length;
        const more = view.element.querySelector(".bk-value-section > .bk-button");
        const label = more.textContent;
        more.click();
        getSelection().selectAllChildren(box);
        return { closed, first, label, hidden: more.hidden, whole: String(getSelection()) === output };
        """
    )

    assert verdict == {
        "closed": 0,
        "first": 200,
        "label": "Show all (27.2 kB more)",
        "hidden": True,
        "whole": True,
    }


@pytest.mark.requirement("page:blocks:exact-values")
def test_values_are_exact_and_texts_keep_their_line_breaks(gallery: Gallery) -> None:
    texts = gallery.run(
        """
        const view = g.show(g.made.exact(argument));
        view.element.querySelector("details").open = true;
        await new Promise((done) => setTimeout(done, 30));
        return [...view.element.querySelectorAll(".bk-value")].map((one) => one.textContent);
        """,
        '{"n":123456789012345678901234567890,"r":1.0,"e":[],"s":"a\\nb"}',
    )

    assert texts == [
        '{\n  "n": 123456789012345678901234567890,\n  "r": 1.0,\n  "e": [],\n  "s": "a\\nb"\n}',
        "one\n  two",
    ]


@pytest.mark.requirement("page:blocks:pictures")
def test_a_picture_keeps_its_room_whatever_becomes_of_it(gallery: Gallery) -> None:
    gallery.run(
        """
        const of = (id) => ({ id, type: "attachment", attachment_id: id, name: `${id}.png`, media_type: "image/png" });
        window.view = g.show(g.made.finished("user", [of("att_ok"), of("att_gone")]));
        window.heights = [view.element.offsetHeight];
        """
    )
    gallery.page.locator('.bk-frame[data-state="shown"]').wait_for()
    gallery.page.locator('.bk-frame[data-state="failed"]').wait_for()

    assert gallery.run("return view.element.offsetHeight === heights[0]")
    gallery.page.get_by_role("button", name="Open the picture att_ok.png").click()
    assert gallery.said == ["open att_ok"]


@pytest.mark.requirement("page:blocks:pictures")
def test_only_types_that_hold_no_program_are_loaded(gallery: Gallery) -> None:
    gallery.run(
        """
        const types = ["image/svg+xml", "text/html", "application/pdf", "image/tiff", "video/mp4"];
        g.show(g.made.finished("user", types.map((media_type, at) => (
          { id: `a${at}`, type: "attachment", attachment_id: `a${at}`, name: "x", media_type }
        ))));
        """
    )
    gallery.settle()

    assert gallery.page.locator("img").count() == 0
    assert gallery.page.get_by_role("link", name="Download x").count() == 5


@pytest.mark.requirement("page:blocks:bearer")
def test_a_share_page_lets_go_of_pictures_that_it_fetched(gallery: Gallery) -> None:
    gallery.open("empty=1&bearer=1")
    verdict = gallery.run(
        """
        const revoked = [];
        URL.revokeObjectURL = (url) => revoked.push(url);
        const view = g.show(g.made.finished("user", [
          { id: "a", type: "attachment", attachment_id: "att_ok", name: "x", media_type: "image/png" },
        ]));
        const image = view.element.querySelector("img");
        await new Promise((done) => { image.onload = done; });
        const url = image.src;
        view.destroy();
        return { isBlob: url.startsWith("blob:"), revoked: revoked.includes(url), gone: !view.element.isConnected };
        """
    )

    assert verdict == {"isBlob": True, "revoked": True, "gone": True}


@pytest.mark.requirement("page:blocks:copy")
def test_blocks_and_messages_are_copied_as_they_were_written(gallery: Gallery) -> None:
    gallery.run(
        """
        g.show(g.made.finished("assistant", [
          { id: "p", type: "prose", markdown: "**Six** tests." },
          { id: "c", type: "code", language: "sh", text: "ls ```\\n" },
          { id: "r", type: "reasoning", text: "secret" },
        ]));
        """
    )
    page = gallery.page
    page.get_by_role("button", name="Copy this part as Markdown").click()
    page.get_by_role("button", name="Copy as text").click()
    page.get_by_role("button", name="Copy as Markdown").click()

    assert gallery.said == [
        "copy Markdown: **Six** tests.",
        "copy Text: **Six** tests.\n\nls ```\n",
        "copy Markdown: **Six** tests.\n\n````sh\nls ```\n````",
    ]


@pytest.mark.requirement("page:blocks:keyboard")
def test_every_control_has_a_name_and_is_seen_when_it_has_the_focus(gallery: Gallery) -> None:
    gallery.open("")
    names = gallery.run(
        """
        const controls = [...document.querySelectorAll("button, a[href], summary, textarea")];
        return controls.filter((one) => !one.closest("[hidden]")).map((one) =>
          one.getAttribute("aria-label") || one.getAttribute("aria-labelledby") || one.textContent.trim());
        """
    )
    assert all(names)

    toolbar = gallery.page.locator("article[data-role=assistant] > .bk-toolbar").first
    assert toolbar.evaluate("(one) => getComputedStyle(one).opacity") == "0"
    toolbar.get_by_role("button").first.focus()
    toolbar.evaluate("(one) => Promise.all(one.getAnimations().map((each) => each.finished))")
    assert toolbar.evaluate("(one) => getComputedStyle(one).opacity") == "1"


@pytest.mark.requirement("page:blocks:accessible")
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_axe_finds_nothing(gallery: Gallery, theme: str) -> None:
    gallery.open(f"theme={theme}")
    gallery.run("for (const one of document.querySelectorAll('details')) one.open = true")
    options = {
        "runOnly": ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa"],
        "resultTypes": ["violations"],
        "preload": False,
    }
    found = Axe().run(gallery.page, context="#gallery", options=options).response

    assert found["passes"]
    assert [
        (each["id"], [node["html"][:200] for node in each["nodes"][:3]])
        for each in found["violations"]
    ] == []


@pytest.mark.requirement("page:blocks:narrow")
@pytest.mark.parametrize("query", ["", "dir=rtl"])
def test_nothing_is_wider_than_a_phone(gallery: Gallery, query: str) -> None:
    gallery.page.set_viewport_size(PHONE)  # type: ignore[arg-type] # a constant, not a literal
    gallery.open(query)

    assert gallery.page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
