"""Take the pictures of the page.

    python docs/pictures/page.py [--into FOLDER] [NAME]...

What is seen is real: a gateway with the agent of ``page_agent.py``, and the built page in Chromium.
Pictures that were taken twice on one machine differ in the time of day at most; between machines the
fonts differ, too.

Needs what ``pip install 'blockwire[previews]' playwright`` installs, Pillow, and a Chromium.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple

from PIL import Image, ImageDraw
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright

from blockwire import Client

WAIT_MS: Final = 30_000
SCALE: Final = 1.5
WIDE: Final = (1200, 780)
PHONE: Final = (390, 780)
COLOURS: Final = 256  # of a palette

HERE: Final = Path(__file__).parent
CHROMIUM: Final = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS: Final = (
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--font-render-hinting=none",
    "--disable-lcd-text",
    "--hide-scrollbars",
)

UPLOADS: Final = "Why are uploads slow since Friday?"
RETRIES: Final = "Write a retry with back-off in Python"
WALK: Final = "Plan a walk to the lighthouse"
MANUAL: Final = "Translate the manual into English"
BACKUPS: Final = "Clean up the old backups"


class Talk(NamedTuple):
    """What the pictures are taken of.

    Attributes:
        url: Of the gateway.
        ids: Of conversations, by their first question.
        fragment: Of a share link of the first one.
    """

    url: str
    ids: Mapping[str, str]
    fragment: str


class Scene(NamedTuple):
    """One picture.

    Attributes:
        begin: What stands behind the address of the gateway.
        play: Does what is to be done, and waits until it is seen.
        texts: What the page must show.
        size: Of the window, in CSS pixels.
        dark: Whether in dark colours.
    """

    begin: Callable[[Talk], str]
    play: Callable[[Page], None]
    texts: tuple[str, ...]
    size: tuple[int, int] = WIDE
    dark: bool = False


def _of(question: str) -> Callable[[Talk], str]:
    return lambda talk: f"/c/{talk.ids[question]}"


def _answer(page: Page) -> Locator:
    return page.locator('article[data-role="assistant"]').last


def _has_ended(page: Page) -> None:
    expect(_answer(page)).not_to_have_attribute("data-status", "streaming")


def _from_the_question(page: Page) -> None:
    _has_ended(page)
    page.get_by_test_id("transcript").evaluate("(region) => { region.scrollTop = 0; }")
    preview = page.locator("article img").first
    expect(preview).to_be_visible()
    preview.evaluate("(image) => image.decode()")


def _the_list(page: Page) -> None:
    # That a question waits for a person is known of a conversation that stands still from one look at
    # the list to the next; who comes back to the window looks.
    expect(page.get_by_test_id("conversation-list")).to_contain_text(BACKUPS)
    page.evaluate("() => dispatchEvent(new Event('focus'))")
    expect(page.get_by_test_id("conversation-list")).to_contain_text("waits for you")


def _the_request(page: Page) -> None:
    _the_list(page)
    # Not to be pressed by accident, it takes no answer in its first moments.
    expect(page.get_by_role("button", name="Approve")).to_be_enabled()
    page.get_by_role("button", name="Approve").hover()


def _a_line_and_a_search(page: Page) -> None:
    expect(_answer(page)).to_contain_text("Retry-After")
    page.get_by_test_id("composer-input").fill("And in Go?")
    page.get_by_test_id("send").click()
    expect(page.get_by_text("Next", exact=True)).to_be_visible()
    page.get_by_test_id("composer-input").fill("Does it need a limit for the number of tries?")
    page.get_by_role("searchbox").first.fill("disk")
    expect(page.get_by_text("In conversations").first).to_be_visible()


SCENES: Final[Mapping[str, Scene]] = {
    "page-start": Scene(
        lambda _talk: "/",
        _the_list,
        ("What would you like to know?", UPLOADS),
    ),
    "page-light": Scene(
        _of(UPLOADS),
        _from_the_question,
        ("query_metrics", "median upload", "chart.png"),
        size=(1200, 1000),
    ),
    "page-dark": Scene(
        _of(RETRIES),
        _a_line_and_a_search,
        ("Retry-After", "And in Go?", "In conversations"),
        dark=True,
    ),
    "page-phone": Scene(_of(UPLOADS), _has_ended, ("median upload",), size=PHONE),
    "page-unknown": Scene(_of(WALK), _has_ended, ("route_map", "Harbour → mole")),
    "page-error": Scene(_of(MANUAL), _has_ended, ("The model is overloaded.", "Try again")),
    "page-suspended": Scene(
        _of(BACKUPS), _the_request, ("Delete 209 backups", "Approve", "Decline")
    ),
    "page-share": Scene(
        lambda talk: f"/#{talk.fragment}",
        _from_the_question,
        ("Shared, read only", "median upload"),
    ),
}


def chart() -> bytes:
    """Return a small chart, as PNG: days beside each other, of which the last ones stand out."""
    image = Image.new("RGB", (640, 320), "#fbfaf7")
    draw = ImageDraw.Draw(image)
    for share in (0.25, 0.5, 0.75):
        draw.line((40, 280 - 240 * share, 610, 280 - 240 * share), fill="#e4e0d8", width=2)
    for day, seconds in enumerate(
        (1.3, 1.1, 1.2, 1.4, 1.2, 1.1, 1.2, 1.3, 1.2, 8.9, 9.6, 9.8, 10.1)
    ):
        left = 52 + day * 43
        top = 280 - seconds / 11 * 240
        draw.rectangle((left, top, left + 28, 280), fill="#b4552d" if seconds > 5 else "#8b9aa8")
    draw.line((40, 280, 610, 280), fill="#57534e", width=3)
    data = io.BytesIO()
    image.save(data, "PNG")
    return data.getvalue()


@contextmanager
def gateway(home: Path) -> Iterator[str]:
    """Yield the URL of a gateway whose default engine is the agent of the pictures."""
    settings = home / "config.toml"
    command = [sys.executable, str(HERE / "page_agent.py")]
    settings.write_text(
        f'[engines.agent]\nkind = "command"\nanswers = true\noutput = "ndjson"\ncommand = {command!r}\n',
        encoding="utf-8",
    )
    environment = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    if "PYTHONPATH" in os.environ:
        environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
    process = subprocess.Popen(  # noqa: S603
        [sys.executable, "-m", "blockwire", "serve", "--config", str(settings), "--engine", "agent",
         "--store", f"sqlite:///{home / 'store.sqlite3'}", "--port", "0"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment, cwd=home, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        yield process.stdout.readline().removeprefix("listening on ").strip()
    finally:
        process.terminate()
        process.wait()


def talk(url: str) -> Talk:
    """Return conversations that were held with the gateway."""
    ids: dict[str, str] = {}
    with Client(url) as client:
        for question in (WALK, MANUAL, BACKUPS, UPLOADS, RETRIES):
            conversation = client.create_conversation()
            ids[question] = conversation.id
            content: list[Any] = [{"type": "prose", "markdown": question}]
            if question == UPLOADS:
                content.append(client.upload(conversation.id, chart(), name="chart.png").block)
            client.submit(conversation.id, content)
        share = client.create_share(ids[UPLOADS])
    return Talk(url, ids, f"share={ids[UPLOADS]}:{share.secret}")


def take(browser: Browser, seen: Talk, name: str) -> bytes:
    """Return one picture, as a small PNG."""
    scene = SCENES[name]
    width, height = scene.size
    context = browser.new_context(
        viewport={"width": width, "height": height},
        device_scale_factor=SCALE,
        color_scheme="dark" if scene.dark else "light",
        reduced_motion="reduce",
        is_mobile=scene.size == PHONE,
        has_touch=scene.size == PHONE,
        locale="en-GB",
        timezone_id="UTC",
    )
    context.set_default_timeout(WAIT_MS)
    page = context.new_page()
    page.goto(seen.url + scene.begin(seen))
    scene.play(page)
    for text in scene.texts:
        expect(page.locator("body")).to_contain_text(text)
    page.evaluate("document.activeElement?.blur()")
    picture = page.screenshot(caret="hide", animations="disabled")
    context.close()
    return with_palette(picture)


def with_palette(picture: bytes) -> bytes:
    """Return a picture in the colours that it has most of: grounds stay to the bit, and it is small."""
    data = io.BytesIO()
    with Image.open(io.BytesIO(picture)) as opened:
        image = opened.convert("RGB")
    counted = image.getcolors(image.width * image.height) or []
    most = sorted(counted, reverse=True)[:COLOURS]
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for _count, colour in most for part in colour])
    image.quantize(palette=palette, dither=Image.Dither.NONE).save(data, "PNG", optimize=True)
    return data.getvalue()


def main() -> None:
    """Take what is named, else all."""
    parser = argparse.ArgumentParser(description="Take the pictures of the page.")
    parser.add_argument("--into", type=Path, default=HERE, metavar="FOLDER")
    parser.add_argument("name", nargs="*", help=f"{', '.join(SCENES)}; else all")
    arguments = parser.parse_args()
    program = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if program is None:
        sys.exit("There is no Chromium on this machine.")
    expect.set_options(timeout=WAIT_MS)
    with (
        tempfile.TemporaryDirectory() as home,
        gateway(Path(home)) as url,
        sync_playwright() as playwright,
    ):
        seen = talk(url)
        browser = playwright.chromium.launch(executable_path=program, args=list(ARGUMENTS))
        for name in arguments.name or SCENES:
            (arguments.into / f"{name}.png").write_bytes(take(browser, seen, name))
        browser.close()


if __name__ == "__main__":
    main()
