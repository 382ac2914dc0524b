"""Hooks as they are configured, and one that hears a real turn end."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from blockwire.cli.hooks import hooks_of
from blockwire.cli.settings import load_config
from blockwire.cli.system import SystemClock
from blockwire.errors import LocalProtocolError
from blockwire.jsontext import decode_json
from tests.cli.conftest import Run

GOOD: list[dict[str, str]] = [
    {},
    {"on_turn_end": "notify-send 'an answer'"},
    {"on_turn_waiting": "sh -c 'cat'"},
    {"webhook_url": "https://example.org/hook?key=1", "webhook_key": "k"},
    {"webhook_url": "http://[::1]:8080/"},
]
BAD: list[tuple[dict[str, str], str]] = [
    ({"on_turn_end": "sh -c 'cat"}, "the command has no end"),
    ({"on_turn_waiting": "''"}, "names no program"),
    ({"webhook_url": "ftp://example.org"}, "begins with http"),
    ({"webhook_url": "https://me:secret@example.org"}, "without user"),
    ({"webhook_url": "http://[::1"}, "begins with http"),
    ({"webhook_url": "https://"}, "begins with http"),
]


@pytest.mark.parametrize("flags", GOOD)
def test_hooks_are_made_of_the_configuration(flags: dict[str, str]) -> None:
    config = load_config(flags, path=None, env={})

    hooks = hooks_of(config, clock=SystemClock(), redact=str)

    assert hooks.is_empty is not bool(flags)


@pytest.mark.parametrize(("flags", "sentence"), BAD)
def test_what_cannot_work_is_refused_before_anything_starts(
    flags: dict[str, str], sentence: str
) -> None:
    config = load_config(flags, path=None, env={})

    with pytest.raises(LocalProtocolError, match=sentence) as refused:
        hooks_of(config, clock=SystemClock(), redact=str)

    assert refused.value.code == "invalid_config"
    assert "secret" not in str(refused.value)


@pytest.mark.requirement("hooks:command:input")
def test_a_program_hears_that_an_answer_is_over(blockwire: Run, tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    script = tmp_path / "hear.py"
    script.write_text(
        f"import sys; open({str(heard)!r}, 'w', encoding='utf-8').write(sys.stdin.read())",
        encoding="utf-8",
    )
    (tmp_path / "c.toml").write_text(
        f"on_turn_end = '{sys.executable} {script}'\n"
        '[engines.e]\nkind = "command"\ncommand = ["echo", "a secret word"]\n',
        encoding="utf-8",
    )

    ended = blockwire("ask", "--config", "c.toml", "--engine", "e", "my question")

    notice = decode_json(heard.read_bytes())
    assert isinstance(notice, dict)
    assert ended.status == 0
    assert (notice["type"], notice["status"], notice["engine"]) == ("turn.ended", "completed", "e")
    assert "secret" not in str(notice)
    assert "question" not in str(notice)
