"""What was built is what its sources say, whole, small and harmless; nothing here needs Node."""

import gzip
import hashlib
import re
import shutil
import subprocess
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import pytest

from blockwire.jsontext import decode_json
from blockwire.web import INDEX_NAME, MANIFEST_NAME, STATIC_FOLDER, Manifest, read_manifest
from tests.suites import PROJECT

STATIC: Final = PROJECT / "src" / "blockwire" / "web" / STATIC_FOLDER
PAGE_BYTES_MAX: Final = 250_000
MATHS_BYTES_MAX: Final = 64_000
TRY: Final = "run `make web` and commit what it writes"

# What makes code of text. A library that cannot do without is a reason to take another one.
MAKES_CODE: Final = re.compile(
    r"\beval\(|\bnew Function\b|\bFunction\(\s*[\"'`]|\bsetTimeout\(\s*[\"'`]"
)
# What loads from elsewhere, whatever it is called in a minified file.
LOADS_FOREIGN: Final = re.compile(
    r"\b(?:import|fetch|importScripts|EventSource|WebSocket|Worker|SharedWorker)\s*\(?\s*"
    r"[\"'`](?:https?:|wss?:)?//"
    r"|\bfrom\s*[\"'`](?:https?:)?//"
    r"|url\(\s*[\"']?(?:https?:)?//"
)
# Of a script its static imports, which are loaded with it.
IMPORTED: Final = re.compile(
    r"\bfrom\s*[\"'`]\./([^\"'`]+)[\"'`]|\bimport\s*[\"'`]\./([^\"'`]+)[\"'`]"
)


@cache
def manifest() -> Manifest:
    return read_manifest((STATIC / MANIFEST_NAME).read_bytes())


def digest_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def sources() -> dict[str, Path]:
    """Return every file that the build reads, by its name, as the build itself lists them."""
    script = (PROJECT / "web" / "page" / "build" / "manifest.mjs").read_text(encoding="utf-8")
    (listed,) = re.findall(r"^const SOURCES = \[\n(.*?)^\];", script, re.DOTALL | re.MULTILINE)
    paths = [PROJECT / name for name in re.findall(r'"([^"]+)"', listed)]
    files = [
        file
        for path in paths
        for file in (path.rglob("*") if path.is_dir() else [path])
        if not file.is_dir()
    ]
    return {file.relative_to(PROJECT).as_posix(): file for file in files}


@pytest.mark.requirement("page:build:manifest")
def test_the_manifest_names_every_file_that_was_built_and_no_other() -> None:
    built = {
        path.relative_to(STATIC).as_posix(): path for path in STATIC.rglob("*") if path.is_file()
    }
    del built[MANIFEST_NAME]

    assert built.keys() == manifest().assets.keys(), TRY
    for name, path in built.items():
        asset = manifest().assets[name]
        assert (digest_of(path), path.stat().st_size) == (asset.sha256, asset.size_bytes), TRY


@pytest.mark.requirement("page:build:fresh")
def test_the_page_was_built_of_the_sources_that_are_here() -> None:
    here = {name: digest_of(path) for name, path in sources().items()}
    built_of = dict(manifest().sources)

    differ = {name for name in here | built_of if here.get(name) != built_of.get(name)}

    assert differ == set(), TRY
    assert {"web/package-lock.json", "web/page/index.html", "web/core/src/index.ts"} <= here.keys()


def packed_bytes(name: str) -> int:
    return len(gzip.compress((STATIC / name).read_bytes(), 9, mtime=0))


def first_loaded() -> set[str]:
    """Return what a first visit loads: the page, what it names, what that imports, its workers."""
    tags = _Tags()
    tags.feed((STATIC / INDEX_NAME).read_text(encoding="utf-8"))
    found = {INDEX_NAME}
    pending = [name.removeprefix("/") for name in tags.loaded]
    pending += [name for name in manifest().assets if ".worker-" in name]
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            if name.endswith(".js"):
                text = (STATIC / name).read_text(encoding="utf-8")
                pending += [f"assets/{match[1] or match[2]}" for match in IMPORTED.finditer(text)]
    return found


@pytest.mark.requirement("page:build:small")
def test_the_page_is_small() -> None:
    packed = {name: packed_bytes(name) for name in manifest().assets}
    maths = {name for name in packed if name.startswith("assets/temml-")}

    assert len(maths) == 1
    assert maths.isdisjoint(first_loaded()), "it is loaded when somebody asks for it"
    assert sum(packed[name] for name in packed.keys() - maths) < PAGE_BYTES_MAX, packed
    assert sum(packed[name] for name in maths) < MATHS_BYTES_MAX, packed


class _Tags(HTMLParser):
    """Keeps what a page loads, and what stands in it that could run."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.inline: list[str] = []
        self._raw = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._raw = tag if tag in {"script", "style"} else ""
        for name, value in attrs:
            if name in {"src", "href", "srcset", "data", "action"}:
                self.loaded.append(value or "")
            if name.startswith("on") or name == "style":
                self.inline.append(f"{tag} {name}")

    def handle_endtag(self, tag: str) -> None:
        del tag
        self._raw = ""

    def handle_data(self, data: str) -> None:
        if self._raw and data.strip():
            self.inline.append(f"{self._raw} {data}")


@pytest.mark.requirement("page:security:built")
def test_the_page_itself_runs_nothing_inline_and_loads_its_own_files() -> None:
    tags = _Tags()
    tags.feed((STATIC / INDEX_NAME).read_text(encoding="utf-8"))

    assert tags.inline == []
    assert tags.loaded
    assert {name.removeprefix("/") for name in tags.loaded} <= manifest().assets.keys()


@pytest.mark.requirement("page:security:built")
def test_what_it_loads_makes_no_code_of_text_and_loads_nothing_from_elsewhere() -> None:
    for name in manifest().assets:
        if name.endswith((".js", ".css", ".svg")):
            text = (STATIC / name).read_text(encoding="utf-8")

            assert [match[0] for match in MAKES_CODE.finditer(text)] == [], name
            assert [match[0] for match in LOADS_FOREIGN.finditer(text)] == [], name
            assert not name.endswith(".css") or "@import" not in text


@pytest.mark.parametrize(
    "text",
    [
        "eval(a)",
        "new Function('a')",
        "Function(`a`)",
        "setTimeout('a')",
    ],
)
def test_the_search_for_code_finds_it(text: str) -> None:
    assert MAKES_CODE.search(text)


@pytest.mark.parametrize(
    "text",
    [
        "import('https://x')",
        'import{a}from"//x"',
        "new WebSocket(`wss://x`)",
        "url(http://x)",
    ],
)
def test_the_search_for_loads_finds_them(text: str) -> None:
    assert LOADS_FOREIGN.search(text)


@pytest.mark.requirement("page:build:no-hosts")
def test_no_lock_names_a_place_to_download_from() -> None:
    lock = decode_json((PROJECT / "web" / "package-lock.json").read_bytes())
    assert isinstance(lock, dict)
    packages = lock["packages"]
    assert isinstance(packages, dict)

    for name, package in packages.items():
        assert isinstance(package, dict)
        # A workspace is a link to a folder.
        place = package.get("resolved", "")
        assert "://" not in str(place), name
        outside = name.startswith("node_modules/") and "link" not in package
        assert ("integrity" in package) or not outside, name
    settings = (PROJECT / "web" / ".npmrc").read_text(encoding="utf-8").splitlines()
    assert "omit-lockfile-registry-resolved=true" in settings
    assert [line for line in settings if line.startswith("registry") or "//" in line] == []


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.requirement("page:build:same")
def test_a_second_build_gives_the_same_bytes(tmp_path: Path) -> None:
    page = PROJECT / "web" / "page"
    vite = PROJECT / "web" / "node_modules" / ".bin" / "vite"
    node = shutil.which("node")
    if node is None or not vite.exists():
        pytest.skip("the page is built with Node and what `make web` installs")

    for command in (
        [str(vite), "build", "--logLevel", "warn", "--outDir", str(tmp_path)],
        [node, "build/manifest.mjs", str(tmp_path)],
    ):
        ended = subprocess.run(
            command, cwd=page, capture_output=True, encoding="utf-8", timeout=240, check=False
        )
        assert ended.returncode == 0, ended.stderr

    assert (tmp_path / MANIFEST_NAME).read_bytes() == (STATIC / MANIFEST_NAME).read_bytes(), TRY
