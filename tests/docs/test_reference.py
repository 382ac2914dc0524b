"""The reference says what the code says."""

import re
from pathlib import Path

import pytest

from blockwire.cli.settings import SETTINGS
from tests.docs.reference_pages import FOLDER, MARKED, PAGES, commands, rendered
from tests.suites import PROJECT

CITED = re.compile(r"docs/[A-Za-z0-9_./-]+")
SOURCES = sorted((PROJECT / "src" / "blockwire").rglob("*.py"))


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_what_a_page_repeats_of_the_code_is_what_the_code_says(path: Path) -> None:
    page = path.read_text(encoding="utf-8")

    assert rendered(page) == page, "run `python -m tests.docs.reference_pages`"


def test_every_command_has_its_help_on_the_page() -> None:
    page = (FOLDER / "cli.md").read_text(encoding="utf-8")

    shown = [name for _start, kind, name, _end in MARKED.findall(page) if kind == "help"]

    assert sorted(shown) == sorted(commands())


def test_the_table_of_settings_has_them_all() -> None:
    page = (FOLDER / "configuration.md").read_text(encoding="utf-8")

    assert re.findall(r"^\| `([a-z_]+)` \| `BLOCKWIRE_", page, re.MULTILINE) == list(SETTINGS)


def test_a_part_that_differs_is_made_anew() -> None:
    page = "before\n<!-- settings: all -->\nxyzzy\n<!-- end -->\nafter\n"

    assert "| `store` | `BLOCKWIRE_STORE` |" in rendered(page)
    assert "xyzzy" not in rendered(page)
    assert rendered(page).endswith("<!-- end -->\nafter\n")


def cited_by(text: str) -> set[str]:
    return {name.rstrip(".") for name in CITED.findall(text)}


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PROJECT)))
def test_every_page_that_the_source_names_is_there(path: Path) -> None:
    cited = cited_by(path.read_text(encoding="utf-8"))

    assert [name for name in sorted(cited) if not (PROJECT / name).exists()] == []


SECTION = re.compile(r'(docs/[a-z0-9/_.-]+\.md), "([^"]+)"')
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def missing_sections(text: str) -> list[tuple[str, str]]:
    """Return the sections that ``text`` names and that their pages do not have."""
    named = SECTION.findall(re.sub(r"\s*\n\s*(?:# )?", " ", text))
    return [
        (page, section)
        for page, section in named
        if section not in HEADING.findall((PROJECT / page).read_text(encoding="utf-8"))
    ]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PROJECT)))
def test_every_section_that_the_source_names_is_on_its_page(path: Path) -> None:
    assert missing_sections(path.read_text(encoding="utf-8")) == []


def test_a_section_may_stand_on_the_next_line() -> None:
    text = 'x docs/reference/http.md,\n# "Headers"; docs/reference/http.md, "Footers"'

    assert missing_sections(text) == [("docs/reference/http.md", "Footers")]


def test_a_page_is_named_with_or_without_a_full_stop() -> None:
    assert cited_by("Spec: docs/spec/a.md.\n(docs/b/c.md, x); docs/spec/d/.") == {
        "docs/spec/a.md",
        "docs/b/c.md",
        "docs/spec/d/",
    }
