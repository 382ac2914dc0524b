"""What of the caller's environment a judged program finds."""

import pytest

from blockwire.conform import REQUIREMENTS, judge_application
from blockwire.conform.surroundings import TERM, clean_environment
from tests.conform.test_ends import ENV, SMALL_APPLICATION, failures


@pytest.mark.parametrize(
    "name",
    ["BLOCKWIRE_TERMINAL", "COLUMNS", "LINES", "NO_COLOR", "SSH_CONNECTION", "SSH_TTY", "STY",
     "TERM_PROGRAM", "TMUX", "WT_SESSION", "KITTY_WINDOW_ID", "CLICOLOR_FORCE"],
)  # fmt: skip
def test_what_is_said_of_another_terminal_is_left_out(name: str) -> None:
    assert clean_environment({name: "1", "PATH": "/bin"}) == {"PATH": "/bin", "TERM": TERM}


def test_everything_else_is_kept_and_changes_are_made() -> None:
    env = {"PATH": "/bin", "HOME": "/", "LANG": "C", "JAVA_HOME": "/j", "TERM": "dumb"}

    assert clean_environment(env, SSH_TTY="x") == {**env, "TERM": TERM, "SSH_TTY": "x"}


def test_who_judges_over_ssh_from_a_dumb_terminal_judges_the_same() -> None:
    env = {**ENV, "SSH_TTY": "/dev/pts/0", "TERM": "dumb", "BLOCKWIRE_TERMINAL": "0"}

    verdicts = judge_application(SMALL_APPLICATION, env=env, scripts=["unsupported"])

    assert failures(verdicts) == {}
    assert REQUIREMENTS["query"] in {it.requirement for it in verdicts if it.outcome == "pass"}
