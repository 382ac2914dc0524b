"""``ask``, ``watch`` and ``show`` on real terminals, read by an emulator."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.programs import Gateway, Screen, Terminal, command, environment, run

pytestmark = pytest.mark.timeout(120)

# Markdown in odd cuts: every character alone, so that each construct is open for a while.
HOSTILE_PROGRAM = r"""
import sys, time
sys.stdin.read()
text = '''# A *heading* with `code`

- one **bold** and [a link](https://example.org/x "t"), unfinished **bold
- two
  1. nested 札幌 and 👩‍👩‍👧 wide
     > quoted | not a table

| a | b |
|---|--:|
| 1 | long cell that has to be wrapped somewhere |

```python
def f(x):  # no end
\treturn "\x1b]0;pwn\x07" + x
```

***

Setext
======
trailing \\* escape &#27;[2J and a <b>tag</b>  \nhard break.
~~~
never closed'''
for index in range(0, len(text), 3):
    sys.stdout.write(text[index:index + 3])
    sys.stdout.flush()
    time.sleep(0.001)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("terminals")
    (folder / "hostile.py").write_text(HOSTILE_PROGRAM, encoding="utf-8")
    (folder / "config.toml").write_text(
        '[engines.recording]\nkind = "replay"\nspeed = 30.0\n'
        '[engines.hostile]\nkind = "command"\n'
        'command = ["python3", "hostile.py"]\noutput = "text"\n',
        encoding="utf-8",
    )
    return folder


@pytest.fixture(scope="module")
def env(place: Path) -> dict[str, str]:
    return environment(place)


@pytest.fixture(scope="module")
def gateway(place: Path, env: dict[str, str]) -> Iterator[Gateway]:
    with Gateway(env, "--config", "config.toml", cwd=place) as running:
        yield running


def shown_rows(env: dict[str, str], columns: int, *arguments: str) -> list[str]:
    with Terminal(command("show", *arguments), env=env, columns=columns) as terminal:
        assert terminal.read_to_end() == 0
        return terminal.screen.lines()


@pytest.mark.usefixtures("gateway")
def test_a_terminal_of_ascii_gets_ascii_and_a_pipe_all_of_it(env: dict[str, str]) -> None:
    plain = {**env, "LC_ALL": "C"}
    with Terminal(command("ask", "--engine", "hostile", "?"), env=plain) as terminal:
        assert terminal.read_to_end() == 0
    assert terminal.output.isascii()
    assert "????" in "".join(terminal.screen.lines())
    assert any(row.lstrip().startswith("+--") for row in terminal.screen.lines())

    assert "札幌" in run("show", env=plain).stdout.decode("utf-8")


def assert_beginning(rows: list[str], whole: list[str]) -> None:
    """All rows but the last stand as they will for ever, and the last one is the start of one."""
    *settled, last = rows or [""]
    assert settled == whole[: len(settled)]
    expected = whole[len(settled)] if len(settled) < len(whole) else ""
    assert expected.startswith(last), (last, expected)


@pytest.mark.usefixtures("gateway")
@pytest.mark.parametrize("columns", [20, 80, 200])
@pytest.mark.parametrize("engine", ["recording", "hostile"])
def test_what_ask_has_printed_is_always_a_beginning_of_what_show_prints(
    env: dict[str, str], columns: int, engine: str
) -> None:
    question = "A question that is so long that it has to be wrapped, *too*"
    with Terminal(
        command("ask", "--engine", engine, question), env=env, columns=columns
    ) as terminal:
        status = terminal.read_to_end()

    assert status == 0
    whole = shown_rows(env, columns)
    screen = Screen(columns)
    for chunk in terminal.chunks:
        screen.feed(chunk)
        assert_beginning(screen.lines(), whole)
    assert screen.lines() == whole
    assert len(terminal.chunks) > 3, "it streamed"


@pytest.mark.usefixtures("gateway")
@pytest.mark.parametrize("engine", ["recording", "hostile"])
def test_a_dumb_terminal_gets_no_escape_at_all(env: dict[str, str], engine: str) -> None:
    for term in ("dumb", ""):
        with Terminal(
            command("ask", "--engine", engine, "hello"), env={**env, "TERM": term}
        ) as terminal:
            assert terminal.read_to_end() == 0
        assert b"\x1b" not in terminal.output
        assert b"hello" in terminal.output


@pytest.mark.usefixtures("gateway")
def test_a_pipe_gets_plain_text_and_a_terminal_colours(env: dict[str, str]) -> None:
    asked = run("ask", "--engine", "hostile", "-", env=env, stdin=b"from a pipe\n")
    with Terminal(command("show"), env=env) as terminal:
        assert terminal.read_to_end() == 0

    assert asked.returncode == 0, asked.stderr
    assert b"\x1b" not in asked.stdout
    assert "札幌" in asked.stdout.decode()
    assert b"from a pipe" not in asked.stdout, "an answer alone, for whoever reads it"
    assert b"from a pipe" in terminal.output
    assert b"\x1b[" in terminal.output


def test_ask_runs_a_gateway_that_a_second_terminal_watches(tmp_path: Path) -> None:
    config = tmp_path / "fast.toml"
    config.write_text('[engines.fast]\nkind = "replay"\nspeed = 30.0\n', encoding="utf-8")
    env = environment(tmp_path, BLOCKWIRE_CONFIG=str(config))
    with Terminal(command("watch"), env=env, columns=80) as watching:
        # It waits on a store of its own, and the other one talks to it.
        asked = run("ask", "hello", env=env)
        assert asked.returncode == 0
        whole = shown_rows(env, 80)
        watching.read(lambda: watching.screen.lines() == whole)
