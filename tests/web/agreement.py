"""Runs the same random scripts of events through our reducer and the one in TypeScript.

The one in TypeScript runs in Node or in Chromium; it is bundled from ``web/core`` for each run.

Usage: ``python -m tests.web.agreement {node,chromium} COUNT [FIRST_SEED]``.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Final

from playwright.sync_api import Page, Route, sync_playwright

from blockwire.jsontext import decode_json
from tests.web.scripts import scripts

__all__ = ["WEB", "bundle_comparison", "compare_in_chromium", "compare_in_node", "missing_tool"]

WEB: Final = Path(__file__).resolve().parent.parent.parent / "web"
_CHROMIUM_NAMES: Final = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
)
_CHROMIUM_ARGUMENTS: Final = ("--no-sandbox", "--disable-dev-shm-usage")
# Scripts that are handed to the browser at once: some 3 MB.
_CHUNK: Final = 200
_BUNDLE_URL: Final = "http://core.test/compare.mjs"

Verdict = dict[str, Any]


def missing_tool(runtime: str) -> str | None:
    """Return what this machine lacks for ``node`` or ``chromium``, or None."""
    if shutil.which("node") is None:
        return "no Node on this machine (20 or newer)"
    if not (WEB / "node_modules" / "vite").exists():
        return "the tools of web/ are not installed (cd web && npm ci)"
    if runtime == "chromium" and _chromium() is None:
        return "no Chromium on this machine (Debian: apt-get install chromium)"
    return None


def _chromium() -> str | None:
    return next(filter(None, map(shutil.which, _CHROMIUM_NAMES)), None)


def bundle_comparison(folder: Path) -> Path:
    """Bundle what compares, and the whole core with it, into one file in ``folder``."""
    outfile = folder / "compare.mjs"
    subprocess.run(
        ["node", "core/build/bundle.mjs", "core/test/compare.ts", str(outfile)],
        cwd=WEB,
        check=True,
    )
    return outfile


def compare_in_node(bundle: Path, lines: Iterable[bytes]) -> Verdict:
    """Return what the reducer in TypeScript makes of the scripts, in Node."""
    with subprocess.Popen(
        ["node", "core/test/scripts-runner.mjs", str(bundle)],
        cwd=WEB,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as program:
        assert program.stdin is not None
        assert program.stdout is not None
        program.stdin.writelines(lines)
        program.stdin.close()
        verdict: Any = decode_json(program.stdout.read())
    return dict(verdict)


def compare_in_chromium(bundle: Path, lines: Iterable[bytes]) -> Verdict:
    """Return what the reducer in TypeScript makes of the scripts, in Chromium."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=_chromium(), args=list(_CHROMIUM_ARGUMENTS)
        )
        page = browser.new_page()
        page.route("**/*", lambda route: _serve(route, bundle))
        page.goto("http://core.test/")
        total: Verdict = {}
        for chunk in _chunks(lines):
            _add(total, _compare_chunk(page, chunk))
        browser.close()
    return total


def _serve(route: Route, bundle: Path) -> None:
    """Answer every request of the page: it knows two addresses and no network."""
    if route.request.url == _BUNDLE_URL:
        route.fulfill(body=bundle.read_text(encoding="utf-8"), content_type="text/javascript")
    else:
        route.fulfill(body="<!doctype html><title>core</title>", content_type="text/html")


def _compare_chunk(page: Page, lines: list[str]) -> Verdict:
    verdict: Verdict = page.evaluate(
        f"async (lines) => (await import('{_BUNDLE_URL}')).compareScripts(lines)", lines
    )
    return verdict


def _chunks(lines: Iterable[bytes]) -> Iterator[list[str]]:
    rest = iter(lines)
    while chunk := [line.decode() for line in islice(rest, _CHUNK)]:
        yield chunk


def _add(total: Verdict, verdict: Verdict) -> None:
    for name, value in verdict.items():
        total[name] = total[name] + value if name in total else value


def main(runtime: str, count: int, first_seed: int) -> int:
    """Print the verdict; return 1 where the reducers differ."""
    lacking = missing_tool(runtime)
    if lacking is not None:
        sys.stderr.write(f"{lacking}\n")
        return 2
    compare = compare_in_chromium if runtime == "chromium" else compare_in_node
    with tempfile.TemporaryDirectory() as folder:
        verdict = compare(bundle_comparison(Path(folder)), scripts(count, first_seed))
    differences = verdict.pop("differences")
    counts = ", ".join(f"{value} {name}" for name, value in verdict.items())
    sys.stdout.write("\n".join([*differences, f"{runtime}: {counts}\n"]))
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 0))
