"""``blockwire conform``: verdicts on standard output and in a file, and how it ends."""

import sys
from pathlib import Path
from typing import Final
from xml.etree import ElementTree as ET

import pytest

from tests.cli.conftest import Run
from tests.suites import PROJECT

pytestmark = pytest.mark.timeout(120)

MUTANTS: Final = PROJECT / "tests" / "conform" / "mutants"
TERMINAL: Final = (sys.executable, "-S", "-E", str(MUTANTS / "small_terminal.py"))
APPLICATION: Final = (sys.executable, "-S", "-E", str(MUTANTS / "small_application.py"))
ONE: Final = ("--requirement", "terminal:operation:scalars")


def test_a_terminal_that_passes_ends_with_0(blockwire: Run) -> None:
    ended = blockwire("conform", "terminal", *ONE, "--", *TERMINAL)

    assert ended.status == 0
    first, last = ended.out.splitlines()
    assert first.startswith("pass  terminal:operation:scalars")
    assert last == "1 passed, 0 failed, 0 not judged (requirements)"


def test_a_terminal_that_fails_ends_with_1_and_the_file_says_why(
    blockwire: Run, tmp_path: Path
) -> None:
    file = tmp_path / "verdicts.xml"

    ended = blockwire(
        "conform", "terminal", *ONE, "--junit", str(file), "--", *TERMINAL, "counts-utf-16"
    )

    assert ended.status == 1
    assert ended.out.startswith("FAIL  terminal:operation:scalars")
    suite = ET.fromstring(file.read_text(encoding="utf-8"))
    assert suite.attrib["failures"] == "1"
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert "expected" in str(failure.text)


@pytest.mark.slow
def test_an_application_is_judged_alike(blockwire: Run) -> None:
    only = ("--requirement", "terminal:application:one-write")

    assert blockwire("conform", "application", *only, "--", *APPLICATION).status == 0
    failed = blockwire("conform", "application", *only, "--", *APPLICATION, "long-query")
    assert failed.status == 1
    assert failed.out.startswith("FAIL  terminal:application:one-write")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--requirement", "no:such", "--", *TERMINAL), "requirement_not_found"),
        ((*ONE, "--", "/no/such/program"), "program_not_started"),
        ((*ONE, "--vectors", "nowhere", "--", *TERMINAL), "file_unreadable"),
        ((*ONE, "--junit", "no/such/folder", "--", *TERMINAL), "file_unwritable"),
    ],
    ids=["requirement", "program", "vectors", "junit"],
)
def test_what_cannot_be_done_is_told(blockwire: Run, arguments: tuple[str, ...], code: str) -> None:
    ended = blockwire("conform", "terminal", *arguments)

    assert ended.status == 1
    assert f"[{code}]" in ended.err


def test_a_program_has_to_be_named(blockwire: Run) -> None:
    assert blockwire("conform", "terminal").status == 2
