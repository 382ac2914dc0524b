"""What the README shows is what the examples are, which run as they stand."""

import re

import pytest

from tests.suites import PROJECT

README = PROJECT / "README.md"
EXAMPLES = PROJECT / "docs" / "examples"
SHOWN = re.compile(r"<!-- example: (\S+) -->\n```\w+\n(.*?)```\n", re.DOTALL)
FOUND = SHOWN.findall(README.read_text(encoding="utf-8"))


def test_the_readme_shows_an_agent_and_a_client() -> None:
    assert [name for name, _text in FOUND] == ["_ask.py", "_agent.sh"]


@pytest.mark.parametrize(("name", "text"), FOUND, ids=lambda value: value[:9])
def test_what_the_readme_shows_is_the_example_that_runs(name: str, text: str) -> None:
    assert text == (EXAMPLES / name).read_text(encoding="utf-8")


def test_an_agent_takes_ten_lines() -> None:
    agent = dict(FOUND)["_agent.sh"]

    assert len(agent.splitlines()) <= 10
