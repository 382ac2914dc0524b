"""A link from one file of the project to another leads somewhere."""

import re
from pathlib import Path

import pytest

from tests.suites import PROJECT

PAGES = sorted(
    path
    for pattern in ("*.md", "changelog.d/*.md", "docs/**/*.md", "requirements/*.md")
    for path in PROJECT.glob(pattern)
    if "_build" not in path.parts and path.name != "template.md"
)
CODE = re.compile(r"^ *```.*?^ *```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")
ELSEWHERE = ("http://", "https://", "mailto:", "#")


def dead_links(page: Path) -> list[str]:
    links = LINK.findall(CODE.sub("", page.read_text(encoding="utf-8")))
    files = [link.partition("#")[0] for link in links if not link.startswith(ELSEWHERE)]
    return [name for name in files if not (page.parent / name).exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(PROJECT)))
def test_every_relative_link_leads_to_a_file(page: Path) -> None:
    assert dead_links(page) == []


def test_a_dead_link_is_found_and_code_is_not_searched(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "[a](page.md#part) [b](gone.md) `[c](code.md)` [d](https://example.org)\n"
        "```\n[e](block.md)\n```\n",
        encoding="utf-8",
    )

    assert dead_links(page) == ["gone.md"]
