"""Ctrl-C, and Ctrl-C again."""

import signal
import subprocess
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
