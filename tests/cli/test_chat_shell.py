"""``blockwire chat`` under a real shell, on a terminal of somebody else."""

from __future__ import annotations

import os
import re
import shutil
import signal
import sys
from pathlib import Path

import pytest

from tests.support.agents import SLOW, let_go
from tests.tui.drawing.terminals import TAKE_CONTROL, ChatTerminal

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash"),
]
CONFIG = '[engines.slow]\nkind = "command"\ncommand = ["python3", "slow.py"]\n'


_BASH = "import os\nos.dup2(0, 2)\nos.execvp('bash', ['bash', '--norc', '-i'])\n"


class Shell(ChatTerminal):
    """bash with job control; the chat is started by what is typed."""

    PROGRAM = (sys.executable, "-c", TAKE_CONTROL + _BASH)


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    (tmp_path / "c.toml").write_text(CONFIG, encoding="utf-8")
    # What bash calls is known by its process id, too.
    (tmp_path / "chat.sh").write_text(
        f"echo $$ > pid\nexec {sys.executable} -m blockwire chat --config c.toml --engine slow\n",
        encoding="utf-8",
    )
    return tmp_path


def is_at_shell(shell: Shell) -> bool:
    return shell.judge.screen()[shell.judge.place()[0]].startswith("$")


@pytest.mark.requirement("chat:job-control:stop-and-go-on")
def test_a_stop_gives_the_shell_its_terminal_and_fg_goes_on(place: Path) -> None:
    with Shell(place=place, PS1="$ ") as shell:
        shell.read(lambda: is_at_shell(shell))
        shell.press("sh chat.sh\r")
        shell.until_shown("Ask something")
        shell.press("question\r")
        shell.until_shown("begun")
        shell.press("draft")
        shell.until_shown("> draft")
        shell.press("\x1a")
        shell.until_shown("Stopped")
        shell.read(lambda: is_at_shell(shell))
        assert "> draft" not in "\n".join(shell.judge.screen())
        shell.press("stty -a | grep -c -- -icanon; echo sh-$((40+2))\r")
        shell.until_shown("sh-42")
        assert "0" in shell.judge.text()
        shell.press("fg\r")
        shell.until_shown("> draft")
        let_go(place)
        shell.until_shown("and done")
        rows = shell.judge.text()
        assert [row for row in rows if row in {"question", "begun", "and done"}] == [
            "question",
            "begun",
            "and done",
        ]


@pytest.mark.requirement("chat:job-control:killed")
def test_a_shell_takes_its_terminal_back_from_a_chat_that_was_killed(place: Path) -> None:
    with Shell(place=place, PS1="$ ") as shell:
        shell.read(lambda: is_at_shell(shell))
        shell.press("sh chat.sh\r")
        shell.until_shown("Ask something")
        os.kill(int((place / "pid").read_text(encoding="utf-8")), signal.SIGKILL)
        shell.until_shown("Killed")
        shell.press("stty -a | grep -c -- -icanon; echo sh-$((40+2))\r")
        shell.until_shown("sh-42")
        rows = shell.judge.text()
    assert re.search(r"\n0\nsh-42", "\n".join(rows))
