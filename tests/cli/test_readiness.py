"""What is told before a turn fails for want of it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from blockwire.cli.readiness import lacks
from blockwire.engines.settings import check_config

NO_KEY = "no key: set OPENAI_API_KEY"
NO_MODEL = "no model: set `model`, or name one with each question (blockwire ask --model NAME)"
NO_PROGRAM = "the program no-such-program was not found: install it, or correct `command`"

# table, environment, what is said
TABLES: list[tuple[dict[str, Any], dict[str, str], list[str]]] = [
    ({"kind": "replay"}, {}, []),
    ({"kind": "external"}, {}, []),
    ({"kind": "openai"}, {}, [NO_KEY, NO_MODEL]),
    ({"kind": "openai", "model": "m"}, {"OPENAI_API_KEY": "k"}, []),
    ({"kind": "openai", "model": "m", "api_key_env": "MINE"}, {"OPENAI_API_KEY": "k"}, ["no key: set MINE"]),
    ({"kind": "ollama"}, {}, [NO_MODEL]),
    ({"kind": "command", "command": "sh -c true"}, {"PATH": "/bin:/usr/bin"}, []),
    ({"kind": "command", "command": ["no-such-program", "x"]}, {"PATH": "/bin"}, [NO_PROGRAM]),
    ({"kind": "command", "command": ["sh"], "env": {"PATH": "/none"}}, {"PATH": "/bin"},
     ["the program sh was not found: install it, or correct `command`"]),
    # a path may be one of the program's own folder; half a quotation is refused elsewhere
    ({"kind": "command", "command": "./no-such-program"}, {"PATH": "/bin"}, []),
    ({"kind": "command", "command": "sh 'half"}, {"PATH": "/bin"}, []),
]  # fmt: skip


@pytest.mark.parametrize(("table", "env", "sentences"), TABLES)
def test_an_engine_says_what_it_lacks(
    table: dict[str, Any], env: dict[str, str], sentences: list[str]
) -> None:
    assert list(lacks(check_config("x", table), env)) == sentences


def test_doctor_tells_each_thing_once(home: Path, blockwire: Callable[..., Any]) -> None:
    (home / "c.toml").write_text('[engines.m]\nkind = "no-such-kind"\n', encoding="utf-8")

    ended = blockwire("doctor", "--config", "c.toml")

    assert ended.status == 1
    assert ended.out.count("no-such-kind") == 1


def test_a_refused_question_leaves_no_empty_conversation(
    home: Path, blockwire: Callable[..., Any]
) -> None:
    (home / "c.toml").write_text('[engines.f]\nkind = "replay"\nspeed = 0.0\n', encoding="utf-8")
    blockwire("ask", "first", "--config", "c.toml")

    refused = blockwire("ask", "x" * (1 << 21), "--config", "c.toml")
    gone_on = blockwire("ask", "x" * (1 << 21), "--config", "c.toml", "--last")

    assert [refused.status, gone_on.status] == [1, 1]
    assert "[limit_exceeded]" in refused.err
    assert [line.split()[-1] for line in blockwire("list").out.splitlines()] == ["first"]
