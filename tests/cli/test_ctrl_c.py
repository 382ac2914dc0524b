"""Ctrl-C at any moment of any command: status 130, no traceback, nothing left half done."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from blockwire.cli.main import COMMANDS
from tests.cli.test_migrate import look, make_store
from tests.support.programs import Gateway, Terminal, call, command, environment

pytestmark = [
    pytest.mark.timeout(60),
    pytest.mark.requirement("gateway:operations:interrupt"),
]

# Interrupts itself when the module of a command is imported, or when its body would begin.
AT_IMPORT = """
import importlib.abc, signal, sys
class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == "blockwire.cli.commands.{module}":
            signal.raise_signal(signal.SIGINT)
sys.meta_path.insert(0, Finder())
"""
AT_BODY = """
import click, signal
def invoke(self, callback, *args, **kwargs):
    signal.raise_signal(signal.SIGINT)
click.Context.invoke = invoke
"""
RUN = """
import sys
from blockwire.__main__ import run
sys.argv = ["blockwire", {name!r}, *{arguments!r}]
run()
"""
ARGUMENTS: dict[str, list[str]] = {
    # what a command needs to get as far as its body; nothing of it is looked at
    "ask": ["hello"],
    "backup": ["x.db"],
    "completion": ["bash"],
    "decode": ["x", "--provider", "openai-chat"],
    "download": ["x"],
    "export": ["x"],
    "import": ["x"],
    "replay": [],
    "schema": ["message"],
    "search": ["x"],
    "show": ["x"],
    "token": [],
    "validate": ["x"],
}


def ended(program: str, folder: Path) -> tuple[int, bytes]:
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(folder),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=30,
        check=False,
    )
    # A line break parts the ^C of a terminal from its next prompt.
    return done.returncode, done.stderr.strip()


@pytest.mark.parametrize("name", COMMANDS)
def test_while_a_command_is_imported(name: str, tmp_path: Path) -> None:
    program = AT_IMPORT.format(module=COMMANDS[name][0]) + RUN.format(name=name, arguments=[])

    assert ended(program, tmp_path) == (130, b"")


@pytest.mark.parametrize("name", COMMANDS)
def test_when_a_command_begins(name: str, tmp_path: Path) -> None:
    arguments = ARGUMENTS.get(name, [])
    status, errors = ended(AT_BODY + RUN.format(name=name, arguments=arguments), tmp_path)

    assert b"Traceback" not in errors
    # Some show their help or refuse these arguments before a body begins.
    assert status == 130 or (status in {0, 2} and name in {"token", "replay", "decode"}), errors


def until_reading(pid: int) -> None:
    """Return when the main thread of a process waits for its pipe."""
    deadline_s = time.monotonic() + 30
    while "pipe_read" not in Path(f"/proc/{pid}/wchan").read_text(encoding="utf-8"):
        assert time.monotonic() < deadline_s, "it does not read"


READERS: list[list[str]] = [
    ["validate", "message", "-"],
    ["ask", "--store", "memory:", "-"],
]


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("arguments", READERS, ids=lambda words: words[0])
def test_while_standard_input_is_read(arguments: list[str], tmp_path: Path) -> None:
    process = subprocess.Popen(
        command(*arguments),
        env=environment(tmp_path),
        cwd=tmp_path,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        assert process.stdin is not None
        # More than a pipe holds: when it is written, it is being read.
        process.stdin.write(b" " * 200_000)
        process.stdin.flush()
        until_reading(process.pid)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=30) == 130
        assert process.stderr is not None
        assert b"Traceback" not in process.stderr.read()


def test_while_a_recording_plays(tmp_path: Path) -> None:
    with Terminal(command("demo"), env=environment(tmp_path)) as terminal:
        terminal.read(lambda: len(terminal.output) > 200)
        terminal.send_signal(signal.SIGINT)

        assert terminal.read_to_end() == 130
        assert "Traceback" not in terminal.errors()


def test_while_watching(tmp_path: Path) -> None:
    with Gateway(environment(tmp_path), "--engine", "external", cwd=tmp_path) as gateway:
        made = call(gateway.url, "/v1/conversations", method="POST", body={})
        turns = f"/v1/conversations/{made['id']}/turns"
        call(gateway.url, turns, method="POST", body={"content": "a question"})
        watching = command("watch", made["id"], "--url", gateway.url)
        with Terminal(watching, env=environment(tmp_path)) as terminal:
            terminal.read(lambda: b"a question" in terminal.output)
            terminal.send_signal(signal.SIGINT)

            assert terminal.read_to_end() == 130
            assert "Traceback" not in terminal.errors()
        assert gateway.stop() == 0


STOPPABLE = """
import sys
from blockwire.cli import ending, stoppable
from blockwire.errors import StoreError

def work(stopping):
    print("ready", flush=True)
    assert stopping.wait(30)
    print("tidied up", flush=True)
    raise StoreError("given_up", "given up")

ending.main = lambda: stoppable.run_stoppable(work)
from blockwire.cli.main import _first_cause, _status_of
def main():
    try:
        stoppable.run_stoppable(work)
    except BaseException as error:
        return _status_of(_first_cause(error))
ending.main = main
sys.exit(ending.run_to_end())
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_work_that_blocks_is_told_to_stop_and_tidies_up(
    number: signal.Signals, tmp_path: Path
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", STOPPABLE],
        env=environment(tmp_path),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        out, errors = process.communicate(timeout=30)

    assert process.returncode == 128 + number
    assert out == b"tidied up\n"
    assert errors == b""


@pytest.mark.parametrize("step", ["copy", "migrate"])
def test_a_migration_that_is_given_up_leaves_a_whole_store(step: str, tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    make_store(path, 1)
    program = f"""
import os, signal, sys
from blockwire.stores.sqlite import copying, upgrade
copying.STEPS_PER_LOOK = upgrade.STEPS_PER_LOOK = 1
done = upgrade.{"copy_store" if step == "copy" else "migrate"}
def interrupted(*arguments, **more):
    os.kill(os.getpid(), signal.SIGINT)
    # The signal is another thread's; it has come when this one is told to stop.
    if {step == "copy"}:
        assert stopping.wait(20)
    else:
        arguments[0].set_progress_handler(stopping.wait, 1)
    return done(*arguments, **more)
upgrade.{"copy_store" if step == "copy" else "migrate"} = interrupted
asked = upgrade.upgrade_store
def upgrade_store(path, **more):
    global stopping
    stopping = more["stopping"]
    return asked(path, **more)
from blockwire.cli.commands import migrate
migrate.upgrade_store = upgrade_store
""" + RUN.format(name="migrate", arguments=["--store", f"sqlite:///{path}"])

    status, errors = ended(program, tmp_path)

    assert status == 130, errors
    assert errors == b""
    version, count = look(path)
    assert (version, count) == (1, 1)
    copies = sorted(p.name for p in tmp_path.glob("old.db.*") if p.suffix != ".lock")
    assert copies == ([] if step == "copy" else ["old.db.schema-1"])
    assert os.access(path, os.R_OK)
