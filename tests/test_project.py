"""The files that build, lock and describe the project agree with one another."""

import os
import re
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

from tests.suites import PROJECT

LOCKS: Final = PROJECT / "requirements"
PINNED: Final = re.compile(r"^([A-Za-z0-9._-]+)==(\S+?)(?: ; .*?)? \\$", re.MULTILINE)
NAME: Final = re.compile(r"^[A-Za-z0-9._-]+")
MAKE_TARGET: Final = re.compile(r"^([a-z-]+):(?!=)", re.MULTILINE)
MAKE_COMMAND: Final = re.compile(r"(?:^|`)make((?: [a-z-]+)+)", re.MULTILINE)


def text_of(name: str) -> str:
    return (PROJECT / name).read_text(encoding="utf-8")


def project() -> dict[str, Any]:
    return tomllib.loads(text_of("pyproject.toml"))


def normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def names_of(requirements: list[str]) -> set[str]:
    matches = [NAME.match(requirement) for requirement in requirements]
    return {normalised(match[0]) for match in matches if match}


def pins(lock: str) -> set[tuple[str, str]]:
    return {(normalised(name), release) for name, release in PINNED.findall(text_of(lock))}


@pytest.mark.parametrize("lock", ["requirements/run.lock", "requirements/dev.lock"])
def test_a_lock_has_hashes_and_names_no_place_to_download_from(lock: str) -> None:
    entries = re.split(r"\n(?! )", text_of(lock).strip())

    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []
    assert "://" not in text_of(lock)


def test_the_locks_hold_what_the_project_asks_for() -> None:
    runtime = names_of(project()["project"]["dependencies"])
    development = names_of(project()["dependency-groups"]["dev"])

    assert runtime <= {name for name, _ in pins("requirements/run.lock")}
    assert runtime | development <= {name for name, _ in pins("requirements/dev.lock")}


def test_what_is_tested_is_what_runs() -> None:
    assert pins("requirements/run.lock") <= pins("requirements/dev.lock")


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "AGENTS.md", ".ci/run"])
def test_every_make_target_that_a_page_names_exists(page: str) -> None:
    targets = set(MAKE_TARGET.findall(text_of("Makefile")))

    named = {word for words in MAKE_COMMAND.findall(text_of(page)) for word in words.split()}

    assert named, "the page names at least one"
    assert named <= targets


def test_the_help_explains_every_target_that_a_person_may_want() -> None:
    unexplained = set(MAKE_TARGET.findall(text_of("Makefile"))) - set(
        re.findall(r"^([a-z-]+):.*## \S", text_of("Makefile"), re.MULTILINE)
    )

    assert unexplained == {"format-check"}


def test_the_ci_script_can_be_executed() -> None:
    assert os.access(PROJECT / ".ci" / "run", os.X_OK)


FRAGMENTS: Final = sorted((PROJECT / "changelog.d").glob("*"))
KINDS: Final = {"added", "changed", "fixed", "removed", "security"}


@pytest.mark.parametrize("fragment", FRAGMENTS, ids=lambda path: path.name)
def test_a_changelog_fragment_says_its_kind_and_something(fragment: Path) -> None:
    kind = fragment.name.split(".")[1:]

    assert fragment.name == "README.md" or (len(kind) == 2 and kind[0] in KINDS)
    assert fragment.suffix == ".md"
    assert fragment.read_text(encoding="utf-8").strip()
