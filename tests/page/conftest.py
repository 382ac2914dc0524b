"""A real browser, one for all tests, and a world for each test."""

from __future__ import annotations

import os
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Final

import pytest
from playwright.async_api import Browser, async_playwright

from tests.page import nursery
from tests.page.worlds import World, opened_world

_WHOLE: Final = ("chromium", "chromium-browser", "google-chrome")
# The same engine without a window around each page opens one with a quarter of the work.
_SHELL: Final = "chromium-headless-shell"
# Only what is on this machine may be reached, whatever a page asks for; and a machine of tests has
# neither a sandbox for root nor much shared memory.
ARGUMENTS: Final = (
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1",
)


def chromium(*, is_whole: bool = False) -> str:
    """Return the path of a Chromium; skips where there is none, and fails in CI.

    Where it is installed the shell without windows goes before, unless the browser ``is_whole``.
    """
    for name in _WHOLE if is_whole else (_SHELL, *_WHOLE):
        if path := shutil.which(name):
            return path
    reason = (
        "no Chromium on this machine (Debian: apt-get install --no-install-recommends chromium)"
    )
    if os.environ.get("CI") == "true":
        pytest.fail(reason, pytrace=False)
    pytest.skip(reason)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.parent == Path(__file__).parent:
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="session", autouse=True)
def _nursery() -> Iterator[None]:
    yield
    nursery.close_shared()


@pytest.fixture(scope="session")
async def browser() -> AsyncIterator[Browser]:
    path = chromium()
    async with async_playwright() as playwright:
        found = await playwright.chromium.launch(executable_path=path, args=list(ARGUMENTS))
        yield found
        await found.close()


@pytest.fixture
async def world(browser: Browser, tmp_path: Path) -> AsyncIterator[World]:
    async with opened_world(browser, tmp_path) as opened:
        yield opened
        assert opened.troubles == []
        foreign = [url for url in opened.requests if not _is_own(url, opened)]
        assert foreign == [], "no request may leave the gateway's own origin"


def _is_own(url: str, world: World) -> bool:
    return url.startswith((f"{world.url}/", f"blob:{world.url}/"))
