"""The page in Chromium before a real gateway: what a token costs it, how it opens, what it keeps."""

from __future__ import annotations

import gzip
import http.client
import shutil
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from typing import Any, Final

import msgspec
from msgspec import Struct
from playwright.sync_api import Browser, CDPSession, Page, ViewportSize, sync_playwright

from bench.figures import Figure
from bench.gateway import REQUEST_S_MAX, Gateway, serving
from bench.processes import ROOT
from blockwire.archives import ArchiveWriter
from blockwire.jsontext import Json

__all__ = ["measure_page"]

TOKENS: Final = 2_000
TOKENS_PER_S: Final = 200
TURNS: Final = 5_000
QUICK_TURNS: Final = 500
OPENINGS: Final = 5
WAIT_S_MAX: Final = 120.0
TENTHS: Final = 10
# In a new conversation the window is full then for the first time, and scrolls from there on.
FULL_TENTH: Final = 3

FLAT: Final = 1.3
PAINTS_PER_S_MAX: Final = 60.0
OPEN_MS_MAX: Final = 1_000.0
LONG_TASK_US: Final = 50_000
FIRST_LOAD_BYTES_MAX: Final = 250_000.0
GROWTH_MAX: Final = 1.5
HEAP_BYTES_MAX: Final = 8e6
# So many steps of the scroll bar down, and again up.
SCROLL_STEPS: Final = 120

_NAMES: Final = ("chromium", "chromium-browser", "google-chrome")
_ARGUMENTS: Final = ("--no-sandbox", "--disable-dev-shm-usage")
_CATEGORIES: Final = ("devtools.timeline", "disabled-by-default-devtools.timeline", "toplevel")
_TASKS: Final = ("RunTask", "ThreadControllerImpl::RunTask")
_VIEWPORT: Final[ViewportSize] = {"width": 1280, "height": 800}

_LONG_TASKS: Final = """
window.longTasks = [];
new PerformanceObserver((list) => {
  for (const { startTime, duration } of list.getEntries()) longTasks.push([startTime, duration]);
}).observe({ entryTypes: ['longtask'] });
"""
_SEEN: Final = """(text) => {
  const all = document.querySelectorAll('article[data-message-id]');
  return all.length > 0 && all[all.length - 1].textContent.includes(text);
}"""
_SENTENCE: Final = (
    "the quick brown fox reads a page of plain text and jumps over several lazy dogs. "
)
_WORDS: Final = _SENTENCE.rstrip(". ").split()


class _Streamed(Struct, frozen=True):
    """What one answer cost the main thread."""

    tenths_us: Sequence[float]
    frames_us: Sequence[float]
    paints_per_s: float
    long_tasks: int
    longest_ms: float
    late_tasks: int
    kinds_ms: dict[str, float]


def token(number: int) -> str:
    """Return a word of an answer: paragraphs, some code, some emphasis."""
    word = _WORDS[number % len(_WORDS)]
    if number % 311 == 310:
        return "\n\n```python\nfor x in range(10):\n    print(x)\n```\n\n"
    if number % 60 == 59:
        return f"{word}.\n\n"
    return f"**{word}** " if number % 17 == 0 else f"{word} "


class _Talk:
    """One connection to the gateway beside the browser's."""

    def __init__(self, gateway: Gateway) -> None:
        self.connection = http.client.HTTPConnection(
            "127.0.0.1", gateway.port, timeout=REQUEST_S_MAX
        )

    def post(self, path: str, body: Any, media_type: str = "application/json") -> Any:
        data = body if isinstance(body, bytes) else msgspec.json.encode(body)
        self.connection.request("POST", path, data, {"Content-Type": media_type})
        answer = self.connection.getresponse()
        found = answer.read()
        if answer.status >= 300:
            raise ConnectionError(f"{path}: {answer.status} {found[:300]!r}")
        return msgspec.json.decode(found)

    def history(self, turns: int) -> str:
        """Return a conversation of so many finished turns."""
        writer = ArchiveWriter()
        lines = [
            writer.start(created_at=1, generator="bench", view="owner"),
            writer.start_conversation({"id": "conv_1", "created_at": 1}),
        ]
        for number in range(turns):
            texts = (f"Question {number}?", f"Answer {number}. " + _SENTENCE * (1 + number % 9))
            for role, text in zip(("user", "assistant"), texts, strict=True):
                block: dict[str, Json] = {"id": "b1", "type": "prose", "markdown": text}
                lines.append(
                    writer.add_message(
                        {
                            "id": f"{role}_{number}",
                            "role": role,
                            "status": "completed",
                            "created_at": 1,
                            "content": [block],
                        }
                    )
                )
        lines += [writer.end_conversation(), writer.end()]
        made = self.post("/v1/import", b"".join(lines), "application/x-ndjson")
        return str(made["conversations"][0]["id"])

    def begin(self, conversation: str) -> str:
        """Begin an answer that we write; return where its events go."""
        path = f"/v1/conversations/{conversation}/turns"
        turn = self.post(path, {"content": "Go on.", "engine": "external"})["id"]
        block = {"id": "b1", "type": "prose", "markdown": "Begun. "}
        event = {"type": "content.block.started", "turn_id": turn, "block": block}
        self.post(f"{path}/{turn}/events", msgspec.json.encode(event), "application/x-ndjson")
        return f"{path}/{turn}/events"

    def stream(self, path: str, tokens: int) -> None:
        """Write an answer at its pace, in one request, and end it."""
        turn = path.split("/")[-2]

        def lines() -> Iterator[bytes]:
            began_s = time.monotonic()
            for number in range(tokens):
                wait_s = began_s + number / TOKENS_PER_S - time.monotonic()
                if wait_s > 0:
                    time.sleep(wait_s)
                text = token(number) if number < tokens - 1 else "The end."
                delta = {
                    "type": "content.block.delta", "turn_id": turn, "block_id": "b1",
                    "field": "markdown", "text": text,
                }  # fmt: skip
                yield msgspec.json.encode(delta) + b"\n"
            for event in (
                {"type": "content.block.completed", "turn_id": turn, "block_id": "b1"},
                {"type": "turn.completed", "turn_id": turn, "status": "completed"},
            ):
                yield msgspec.json.encode(event) + b"\n"

        self.connection.request(
            "POST", path, lines(), {"Content-Type": "application/x-ndjson"}, encode_chunked=True
        )
        answer = self.connection.getresponse()
        if answer.status >= 300:
            raise ConnectionError(f"{path}: {answer.status} {answer.read()[:300]!r}")
        answer.read()


def _until(page: Page, script: str, text: str, every_ms: int = 2) -> None:
    """Wait until a function of the page is true; asked from outside, as its policy has no eval."""
    ends_at_s = time.monotonic() + WAIT_S_MAX
    while not page.evaluate(script, text):
        if time.monotonic() > ends_at_s:
            raise TimeoutError(f"the page does not show {text!r}")
        page.wait_for_timeout(every_ms)


@contextmanager
def _browser() -> Iterator[Browser]:
    path = next((found for name in _NAMES if (found := shutil.which(name))), None)
    if path is None:
        raise ConnectionError("no Chromium on this machine")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=list(_ARGUMENTS))
        yield browser
        browser.close()


@contextmanager
def _page(browser: Browser, requests: list[str]) -> Iterator[Page]:
    context = browser.new_context(viewport=_VIEWPORT)
    context.on("request", lambda request: requests.append(request.url))
    page = context.new_page()
    page.add_init_script(_LONG_TASKS)
    yield page
    context.close()


def _streamed(browser: Browser, page: Page, talk: _Talk, url: str, turns: int) -> _Streamed:
    conversation = talk.history(turns) if turns else str(talk.post("/v1/conversations", {})["id"])
    page.goto(f"{url}/c/{conversation}")
    path = talk.begin(conversation)
    _until(page, _SEEN, "Begun.")
    page.wait_for_timeout(1_000)  # What a page does once it is there is not the answer's.
    began_ms = page.evaluate("performance.now()")
    browser.start_tracing(page=page, categories=list(_CATEGORIES))
    with ThreadPoolExecutor(1) as threads:
        sent = threads.submit(talk.stream, path, TOKENS)
        _until(page, _SEEN, "The end.", every_ms=500)
        sent.result()
    events = msgspec.json.decode(browser.stop_tracing())["traceEvents"]
    long_tasks = page.evaluate("(from) => longTasks.filter(([at]) => at > from)", began_ms)
    return _figures_of(events, [duration for _at, duration in long_tasks])


def _figures_of(events: Sequence[dict[str, Any]], late_tasks: Sequence[float]) -> _Streamed:
    mains = {
        (event["pid"], event["tid"])
        for event in events
        if event["name"] == "thread_name" and event["args"]["name"] == "CrRendererMain"
    }
    # Of several renderers the one that paints.
    ours = [event for event in events if (event["pid"], event["tid"]) in mains]
    paints = sorted(event["ts"] for event in ours if event["name"] == "Commit")
    if not paints:
        raise ConnectionError("Chromium traced nothing that was painted")
    first, last = paints[0], paints[-1]
    tenths = [0.0] * TENTHS
    frames = [0] * TENTHS
    for at in paints[:-1]:
        frames[int((at - first) / (last - first) * TENTHS)] += 1
    kinds: dict[str, float] = {}
    longest_us, long_tasks = 0.0, 0
    for event in ours:
        if event.get("ph") != "X" or not first <= event["ts"] < last:
            continue
        used_us = event.get("tdur", event.get("dur", 0))
        if event["name"] in _TASKS:
            longest_us = max(longest_us, used_us)
            long_tasks += used_us > LONG_TASK_US
            tenths[int((event["ts"] - first) / (last - first) * TENTHS)] += used_us
        else:
            kinds[event["name"]] = kinds.get(event["name"], 0.0) + used_us / 1_000
    return _Streamed(
        tenths_us=[used / (TOKENS / TENTHS) for used in tenths],
        frames_us=[used / max(count, 1) for used, count in zip(tenths, frames, strict=True)],
        paints_per_s=(len(paints) - 1) / ((last - first) / 1e6),
        long_tasks=long_tasks,
        longest_ms=longest_us / 1_000,
        late_tasks=len(late_tasks),
        kinds_ms=kinds,
    )


def _opened_ms(page: Page, address: str, last: str) -> float:
    page.goto("about:blank")
    # From the address to the frame after the last message is in the document.
    started_s = time.perf_counter()
    page.goto(address, wait_until="commit")
    _until(page, _SEEN, last)
    page.evaluate("new Promise((done) => requestAnimationFrame(() => done()))")
    return (time.perf_counter() - started_s) * 1_000


def _kept(session: CDPSession) -> tuple[float, float]:
    """Return bytes of the JavaScript heap after a collection, and nodes of documents."""
    for _ in range(3):
        session.send("HeapProfiler.collectGarbage")
    heap = session.send("Runtime.getHeapUsage")["usedSize"]
    nodes = session.send("Memory.getDOMCounters")["nodes"]
    return float(heap), float(nodes)


def _scroll_everywhere(page: Page) -> None:
    page.get_by_test_id("transcript").focus()
    for key, pixels in (("Home", 4_000), ("End", -4_000)):
        page.keyboard.press(key)
        page.wait_for_timeout(500)
        for _ in range(SCROLL_STEPS):
            page.evaluate(
                """(pixels) => {
                  document.querySelector('[data-testid=transcript]').scrollTop += pixels;
                  return new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
                }""",
                pixels,
            )
    page.keyboard.press("End")
    page.wait_for_timeout(500)


def _packed(folder: str) -> int:
    files = (ROOT / "src/blockwire/web/static" / folder).glob("*")
    return sum(len(gzip.compress(path.read_bytes())) for path in files if path.is_file())


def _listed(figures: Sequence[float]) -> str:
    return ", ".join(f"{figure:.0f}" for figure in figures)


def _stream_figures(what: str, streamed: _Streamed) -> list[Figure]:
    kinds = sorted(streamed.kinds_ms.items(), key=lambda pair: -pair[1])[:8]
    return [
        Figure(
            what=f"{what}: main thread a frame, last tenth",
            ours=streamed.frames_us[-1], unit="us",
            peer=streamed.frames_us[FULL_TENTH], peer_name="fourth tenth", reach=FLAT,
            note=f"us a frame by tenths: {_listed(streamed.frames_us)}; us a token: "
            + _listed(streamed.tenths_us) + "; in all, ms: "
            + ", ".join(f"{name} {used:.0f}" for name, used in kinds),
        ),
        Figure(
            what=f"{what}: paints", ours=streamed.paints_per_s, unit="/s",
            peer=PAINTS_PER_S_MAX, peer_name="limit", reach=1.01,
        ),
        Figure(
            what=f"{what}: tasks longer than 50 ms", ours=streamed.long_tasks, unit="",
            peer=1, peer_name="fewer than", reach=0.0,
            note=f"of processor time; the longest {streamed.longest_ms:.0f} ms. By the clock, with "
            f"what else the machine does: {streamed.late_tasks}",
        ),
    ]  # fmt: skip


def measure_page(*, quick: bool) -> list[Figure]:
    """Measure an answer of 2,000 tokens, opening 5,000 turns, memory after reading, first load."""
    turns = QUICK_TURNS if quick else TURNS
    requests: list[str] = []
    figures: list[Figure] = []
    with serving() as gateway, _browser() as browser:
        url = f"http://127.0.0.1:{gateway.port}"
        talk = _Talk(gateway)
        with closing(talk.connection):
            for what, before in (
                ("answer, new conversation", 0),
                (f"after {turns:,} turns", turns),
            ):
                with _page(browser, requests) as page:
                    figures += _stream_figures(what, _streamed(browser, page, talk, url, before))
            address = f"{url}/c/{talk.history(turns)}"
            with _page(browser, requests) as page:
                last = f"Answer {turns - 1}."
                opened = [_opened_ms(page, address, last) for _ in range(OPENINGS)]
                session = page.context.new_cdp_session(page)
                begun = _kept(session)
                _scroll_everywhere(page)
                ended = _kept(session)
            first_load = _first_load(browser, url, requests)
    foreign = [it for it in requests if not it.startswith((f"{url}/", f"blob:{url}/", "about:"))]
    return [
        *figures,
        Figure(
            what=f"opening {turns:,} turns until the last is seen", ours=sorted(opened)[OPENINGS // 2],
            unit="ms", peer=OPEN_MS_MAX, peer_name="limit", reach=1.0,
        ),
        Figure(
            what="JavaScript heap after reading everywhere", ours=ended[0] / 1e6, unit="MB",
            peer=HEAP_BYTES_MAX / 1e6, peer_name="limit", reach=1.0,
            note=f"{begun[0] / 1e6:.2f} MB when it was opened; up to 400 messages are kept",
        ),
        Figure(
            what="nodes of the document then", ours=ended[1], unit="",
            peer=begun[1], peer_name="opened", reach=GROWTH_MAX,
        ),
        Figure(
            what="first load, packed", ours=float(first_load), unit="B",
            peer=FIRST_LOAD_BYTES_MAX, peer_name="limit", reach=1.0,
            note=f"all files that there are: {_packed('assets'):,} B",
        ),
        Figure(
            what="requests to other origins", ours=float(len(foreign)), unit="",
            peer=1, peer_name="fewer than", reach=0.0, note=", ".join(sorted({*foreign})[:5]),
        ),
    ]  # fmt: skip


def _first_load(browser: Browser, url: str, requests: list[str]) -> int:
    """Return the bytes of page and files that a first visit loads."""
    sizes: list[int] = []
    with _page(browser, requests) as page:
        session = page.context.new_cdp_session(page)
        session.send("Network.enable")
        session.on(
            "Network.loadingFinished", lambda done: sizes.append(int(done["encodedDataLength"]))
        )
        page.goto(url, wait_until="load")
        page.get_by_test_id("composer-input").wait_for()
        page.wait_for_timeout(500)
    return sum(sizes)
