"""Ctrl-C, and Ctrl-C again: whenever it comes, it ends the program without a word, with 130."""

import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.programs import command, environment

pytestmark = pytest.mark.timeout(60)

STUBBORN = """trap '' TERM INT
cat > /dev/null
echo working
while :; do sleep 0.1; done
"""


def _interrupted(asking: subprocess.Popen[bytes]) -> bytes:
    """Return what it said at its end; one that is about to tidy up may want to hear it once more."""
    for _attempt in range(10):
        asking.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            return asking.communicate(timeout=2)[1]
    asking.kill()
    return asking.communicate()[1]


@pytest.mark.requirement("gateway:operations:interrupt")
def test_a_second_ctrl_c_leaves_at_once_and_without_a_word(tmp_path: Path) -> None:
    (tmp_path / "agent.sh").write_text(STUBBORN, encoding="utf-8")
    (tmp_path / "c.toml").write_text(
        '[engines.x]\nkind = "command"\ncommand = ["sh", "agent.sh"]\nkill_grace_s = 30\n',
        encoding="utf-8",
    )
    asking = subprocess.Popen(
        command("ask", "--store", "memory:", "--config", "c.toml", "hello"),
        cwd=tmp_path,
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with asking:
        assert asking.stdout is not None
        assert asking.stdout.readline() == b"working\n"
        asking.send_signal(signal.SIGINT)
        while asking.stdout.readline() != b"Stopped by user.\n":
            assert asking.poll() is None, "it waits for the program, which does not end"
        told = _interrupted(asking)

    assert asking.returncode == 130
    assert told.strip() == b"", "a line break parts the ^C of the terminal from its next prompt"


# where a Ctrl-C comes although the status is decided already: (code, status)
LATE = [
    # while threads and exit functions are waited for
    ("atexit.register(interrupt)", 3),
    # when the interpreter has tidied up and given its signals back to the system
    ("sys.modules['late'] = Late()", 3),
    ("atexit.register(interrupt); sys.modules['late'] = Late()", 3),
]
PROGRAM = """
import atexit, os, signal, sys
from blockwire.cli import ending

def interrupt(kill=os.kill, pid=os.getpid(), number=signal.SIGINT):
    kill(pid, number)

class Late:
    def __del__(self, interrupt=interrupt):
        interrupt()

def main():
    {code}
    return 3

ending.main = main
sys.exit(ending.run_to_end())
"""


@pytest.mark.parametrize(("code", "status"), LATE)
def test_a_ctrl_c_after_the_end_changes_no_status(tmp_path: Path, code: str, status: int) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(code=code)],
        env=environment(tmp_path),
        capture_output=True,
        timeout=30,
        check=False,
    )

    assert (ended.returncode, ended.stdout, ended.stderr) == (status, b"", b"")


def test_a_ctrl_c_between_work_and_end_is_one(tmp_path: Path) -> None:
    code = "signal.raise_signal(signal.SIGINT)"
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(code=code)],
        env=environment(tmp_path),
        capture_output=True,
        timeout=30,
        check=False,
    )

    assert (ended.returncode, ended.stderr) == (130, b"")


def test_a_ctrl_c_that_is_ignored_stays_ignored(tmp_path: Path) -> None:
    program = (
        "import signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); "
        "from blockwire.__main__ import run; sys.argv[1:] = ['schema', 'message']; "
        "import atexit; atexit.register(lambda: signal.raise_signal(signal.SIGINT)); run()"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(tmp_path),
        capture_output=True,
        timeout=30,
        check=False,
    )

    assert (ended.returncode, ended.stderr) == (0, b"")


def test_a_ctrl_c_while_the_program_is_imported_is_no_traceback(tmp_path: Path) -> None:
    program = (
        "import sys, signal, importlib.abc\n"
        "class Finder(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'blockwire.cli.main': signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from blockwire.__main__ import run\n"
        "run()\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(tmp_path),
        capture_output=True,
        timeout=30,
        check=False,
    )

    assert (ended.returncode, ended.stderr) == (130, b"")
