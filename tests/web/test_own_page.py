"""The page of ``docs/how-to/own-page.md``, compiled against the packed core and opened in a browser."""

import shutil
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.page.conftest import chromium
from tests.suites import PROJECT
from tests.support.programs import WAIT_S
from tests.web import test_package as package
from tests.web.agreement import WEB

pytestmark = [pytest.mark.slow, pytest.mark.timeout(180)]

EXAMPLE = PROJECT / "docs" / "examples" / "_own_page.ts"
installed = package.installed
# As the guide says, but for the map: without a bundler the browser needs one.
PAGE = """<!doctype html><meta charset="utf-8"><title>Own page</title>
<script type="importmap">{"imports": {"@blockwire/core": "/core/index.js"}}</script>
<body><script type="module" src="page.js"></script>"""


def test_it_shows_an_answer_as_it_grows(installed: package.Installed, tmp_path: Path) -> None:
    path = chromium()
    shutil.copy(EXAMPLE, installed.folder / "page.ts")
    installed.run(
        str(WEB / "node_modules" / ".bin" / "tsc"),
        "--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--types", "",
        "--target", "es2022", "--lib", "es2022,dom", "--module", "nodenext",
        "--outDir", str(tmp_path / "site"), "page.ts",
    )  # fmt: skip
    site = tmp_path / "site"
    shutil.copytree(
        installed.folder / "node_modules" / "@blockwire" / "core" / "dist", site / "core"
    )
    (site / "index.html").write_text(PAGE, encoding="utf-8")
    with (
        package.serving(site) as origin,
        package.hastened(tmp_path, BLOCKWIRE_ALLOWED_ORIGINS=origin) as gateway,
        package.sound_page(path) as page,
    ):
        program = site / "page.js"
        text = program.read_text(encoding="utf-8")
        assert text.count(package.USUAL_URL) == 1
        program.write_text(text.replace(package.USUAL_URL, gateway.url), encoding="utf-8")
        page.goto(origin)

        question = page.locator("article.user")
        expect(question).to_have_text("What is a fold?", timeout=WAIT_S * 1000)
        answer = package.only_answer(gateway)
        # The growing text is put together of what was new each time, so it is the source.
        for block in answer["content"]:
            if block["type"] == "prose":
                expect(page.locator("article.assistant")).to_contain_text(
                    block["markdown"], timeout=WAIT_S * 1000
                )
