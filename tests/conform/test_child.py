"""A program in a terminal of its own, and what is seen of it."""

import sys
import time

import pytest

from blockwire.conform.child import Child, Silent
from blockwire.errors import LocalProtocolError

SOON_S = 20.0


def program(code: str) -> list[str]:
    return [sys.executable, "-S", "-E", "-c", code]


def read_all(child: Child) -> bytes:
    end_s = time.monotonic() + SOON_S
    return b"".join(iter(lambda: child.read(end_s), b""))


def test_the_terminal_is_the_controlling_one_and_has_a_size() -> None:
    code = (
        "import os\n"
        "own = os.open('/dev/tty', os.O_RDWR)\n"
        "print(os.getsid(0) == os.getpid(), os.tcgetpgrp(own) == os.getpid(),"
        " os.get_terminal_size(1))"
    )
    with Child(program(code), env={}) as child:
        shown = read_all(child)
        status = child.wait(time.monotonic() + SOON_S)

    assert shown.strip() == b"True True os.terminal_size(columns=80, lines=24)"
    assert status == 0


def test_a_raw_terminal_passes_every_byte_on() -> None:
    every = bytes(range(256))
    code = "import os\ndata = b''\nwhile len(data) < 256:\n  data += os.read(0, 256)\nos.write(1, data)"
    with Child(program(code), env={}) as child:
        child.write(every)
        assert read_all(child) == every


def test_more_than_a_terminal_holds_goes_both_ways() -> None:
    size = 300_000
    code = (
        f"import os\nleft = {size}\n"
        "while left:\n  data = os.read(0, 4096)\n  left -= len(data)\n"
        "  while data:\n    data = data[os.write(1, data):]"
    )
    with Child(program(code), env={}) as child:
        child.write(b"x" * size)
        assert len(read_all(child)) == size


def test_a_silent_program_is_told_and_ended() -> None:
    with Child(program("import signal\nsignal.pause()"), env={}) as child:
        with pytest.raises(Silent):
            child.read(time.monotonic() + 0.01)
        with pytest.raises(Silent):
            child.wait(time.monotonic() + 0.01)
    assert child.status is not None
    assert child.status < 0


def test_a_program_that_is_not_there_is_told() -> None:
    with pytest.raises(LocalProtocolError) as refused:
        Child(["/no/such/program"], env={})

    assert refused.value.code == "program_not_started"
