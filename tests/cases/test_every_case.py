"""Every situation has a test in each part that it concerns, and every test a situation.

Part A is whatever needs no terminal with Blocks; part B is what is seen on one, and in a conversation
that is drawn in a terminal.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.support.cases import all_cases

TESTS = Path(__file__).parents[1]
MARK = re.compile(r"^@(?:pytest\.mark\.)?case\(\"([A-Z][0-9]{2})\"\)$", re.MULTILINE)

# Where part B is proved; all other tests are of part A.
PART_B: Final = (
    "acceptance/terminals/",
    "cases/test_frames.py",
    "cases/test_screens.py",
    "host/",
    "screen/",
    "tui/",
)


def marked(part: str) -> Iterator[str]:
    """Yield the situations that tests of a part are marked with."""
    for path in TESTS.rglob("test_*.py"):
        is_part_b = path.relative_to(TESTS).as_posix().startswith(PART_B)
        if is_part_b == (part == "B"):
            yield from MARK.findall(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("part", ["A", "B"])
def test_every_situation_of_a_part_has_a_test_in_it(part: str) -> None:
    wanted = {name for name, found in all_cases().items() if part in found["part"].split("+")}

    assert len(wanted) > 8
    assert wanted - {*marked(part)} == set(), "situations without a test"


def test_every_mark_names_a_situation() -> None:
    assert {*marked("A"), *marked("B")} - set(all_cases()) == set(), "tests of no situation"
