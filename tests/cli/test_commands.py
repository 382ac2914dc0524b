"""Every command, called as a person calls it; only the process is this one."""

import io
import json
import os
import signal
import socket
import sqlite3
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from blockwire.cli import main
from blockwire.cli.main import COMMANDS, cli
from blockwire.stores import read_owner
from tests.cli.conftest import Ended, Run
from tests.support.programs import at_once, call, decoded

pytestmark = pytest.mark.timeout(60)

STORE = Path("data/blockwire/conversations.db")


def lines(ended: Ended) -> list[Any]:
    return [decoded(line) for line in ended.out.splitlines()]


# help ---------------------------------------------------------------------------------------
@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_every_option_has_help(name: str, blockwire: Run) -> None:
    ended = blockwire(name, "--help")

    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    assert ended.status == 0
    assert "Usage: blockwire" in ended.out
    assert command.help
    for parameter in command.params:
        if isinstance(parameter, click.Option):
            assert parameter.help, parameter.name


def test_the_first_help_names_every_command_and_first_steps(blockwire: Run) -> None:
    shown = blockwire("--help").out

    assert all(f"  {name} " in shown for name in COMMANDS)
    assert "blockwire demo" in shown


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("aks", "hello"), "did you mean ask?"),
        (("zzzzzz",), "there are serve, ask"),
        (("ask", "--speed", "1", "x"), "--speed"),
        (("ask", ""), "the question is empty"),
        (("ask", "--last", "-c", "conv_1", "x"), "give one"),
        (("show", ""), "it is empty"),
        (("watch", " "), "it is empty"),
        (("show", "../.."), "is no id"),
        (("serve", "--port", "65536"), "65536"),
        (("demo", "--width", "0"), "width"),
        (("decode", "nonsense", "-"), "nonsense"),
    ],
)
def test_wrong_usage_is_status_2_and_says_what_is_right(
    blockwire: Run, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], sentence: str
) -> None:
    monkeypatch.setattr(sys, "stdin", _input(b""))

    ended = blockwire(*arguments)

    assert ended.status == 2
    assert sentence in ended.err


class _Input(io.TextIOWrapper):
    is_tty = False

    def isatty(self) -> bool:
        return self.is_tty


def _input(data: bytes, *, is_tty: bool = False) -> io.TextIOWrapper:
    stream = _Input(io.BytesIO(data), encoding="utf-8")
    stream.is_tty = is_tty
    return stream


def test_ask_wants_a_question_from_a_person_at_a_terminal(
    blockwire: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", _input(b"", is_tty=True))

    ended = blockwire("ask")

    assert ended.status == 2
    assert "what is the question?" in ended.err


# conversations ------------------------------------------------------------------------------
def test_a_conversation_is_asked_listed_shown_and_gone_on_with(
    home: Path, blockwire: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "fast.toml").write_text(
        '[engines.fast]\nkind = "replay"\nspeed = 0.0\n', encoding="utf-8"
    )
    monkeypatch.setenv("BLOCKWIRE_CONFIG", "fast.toml")
    nothing = blockwire("list")
    first = blockwire("ask", "What is", "a fold?")
    turn = blockwire("ask", "--last", "--json", "And a map?")
    monkeypatch.setattr(sys, "stdin", _input("\ufefffrom a pipe\n".encode()))
    other = blockwire("ask", "-")

    assert (nothing.status, nothing.out) == (0, "")
    assert "blockwire ask" in nothing.err
    assert not STORE.exists() or nothing.out == ""
    assert [first.status, turn.status, other.status] == [0, 0, 0]
    conversations = lines(blockwire("list", "--json"))
    assert [c["title"] for c in conversations] == ["from a pipe", "What is a fold?"]
    assert len(lines(blockwire("list", "--json", "--limit", "1"))) == 1
    assert "What is a fold?" in blockwire("list").out
    conversation_id = conversations[1]["id"]
    (answered,) = lines(turn)
    messages = lines(blockwire("show", conversation_id, "--json"))
    assert [m["role"] for m in messages] == ["user", "assistant"] * 2
    assert messages[3] == answered["message"]
    one = lines(blockwire("show", conversation_id, "--json", "--turn", answered["id"]))
    assert [m["id"] for m in one] == [messages[2]["id"], messages[3]["id"]]
    assert blockwire("show").out.startswith("[user]\nfrom a pipe\n")
    watched = blockwire("watch", conversation_id, "--until-idle")
    assert watched.out == blockwire("show", conversation_id).out
    assert blockwire("watch", "--until-idle").out == blockwire("show").out
    events = lines(blockwire("watch", conversation_id, "--until-idle", "--json"))
    assert [e["type"] for e in events].count("turn.completed") == 2
    rest = lines(
        blockwire(
            "watch", conversation_id, "--until-idle", "--json", "--after", str(events[4]["seq"])
        )
    )
    assert rest == events[5:]
    drawn = blockwire("show", conversation_id, "--color", "always", "--width", "40")
    assert "\x1b[" in drawn.out
    assert blockwire("ask", "--color", "always", "-c", conversation_id, "more").status == 0
    assert blockwire("check").out == "ok\n"
    assert lines(blockwire("check", "--json")) == [[]]


MISSING: list[tuple[tuple[str, ...], str]] = [
    (("show", "conv_none"), "conversation_not_found"),
    (("watch", "conv_none"), "conversation_not_found"),
    (("ask", "-c", "conv_none", "x"), "conversation_not_found"),
    (("list", "--url", "http://127.0.0.1:1"), "gateway_unreachable"),
    (("list", "--url", "nonsense"), "invalid_url"),
    (("ask", "--engine", "none", "x"), "invalid_config"),
    (("serve", "--host", "0.0.0.0"), "tokens_required"),
    (("serve", "--token-file", "none.toml"), "invalid_token_file"),
    (("schema", "none"), "schema_not_found"),
    (("replay", "none"), "recording_not_found"),
    (("decode", "openai-chat", "none"), "file_unreadable"),
    (("validate", "message", "none"), "file_unreadable"),
    (("check", "--store", "sqlite:///none.db"), "store_not_found"),
    (("check", "--store", "memory:"), "invalid_store_url"),
    (("check", "--store", "sqlite://x"), "invalid_store_url"),
    (("list", "--store", "postgres://x"), "invalid_store_url"),
    (("list", "--store", "sqlite:///none.db"), "store_not_found"),
    (("show", "conv", "--store", "sqlite:///none.db"), "store_not_found"),
    (("ask", "x", "--store", "sqlite:///."), "store_unavailable"),
    (("ask", "x", "--store", "sqlite:////proc/none/x.db"), "store_unavailable"),
    (("ask", "x", "--store", "sqlite:///garbage.db"), "store_corrupt"),
]


@pytest.mark.parametrize(
    ("arguments", "code"),
    MISSING,
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)
def test_what_cannot_be_done_is_one_sentence_a_code_and_status_1(
    home: Path, blockwire: Run, arguments: tuple[str, ...], code: str
) -> None:
    (home / "garbage.db").write_bytes(b"no database at all, and long enough to be one" * 100)
    if "conv_none" in arguments:
        blockwire("ask", "x", "--config", at_once(home))

    ended = blockwire(*arguments)

    assert ended.status == 1
    assert ended.out == ""
    told = ended.err.rstrip().split("\n")[-1]
    assert told.startswith("blockwire: ")
    assert told.endswith(f"[{code}]")


@pytest.mark.parametrize(
    ("url", "path"),
    [
        ("sqlite:///relative.db", "relative.db"),
        ("sqlite:///new%20folder/a%25b.db", "new folder/a%b.db"),
        ("sqlite:///{home}/absolute/x.db", "absolute/x.db"),
    ],
)
def test_a_store_lies_where_its_url_says(home: Path, blockwire: Run, url: str, path: str) -> None:
    ended = blockwire("ask", "x", "--store", url.format(home=home), "--config", at_once(home))

    assert ended.status == 0, ended.err
    assert (home / path).is_file()


def test_a_failed_answer_is_status_1_and_still_shown(home: Path, blockwire: Run) -> None:
    (home / "c.toml").write_text(
        '[engines.broken]\nkind = "command"\ncommand = ["./no-such-program"]\n', encoding="utf-8"
    )

    ended = blockwire("ask", "x", "--config", "c.toml")

    assert ended.status == 1
    assert "no-such-program was not found" in ended.out


# gateways -----------------------------------------------------------------------------------
def _once_serving(act: Callable[[str], None]) -> threading.Thread:
    """Start a thread that acts once a gateway serves the default store."""
    path = STORE.absolute()
    done = threading.Event()

    def wait() -> None:
        while not done.wait(0.02):
            owner = read_owner(path)
            if owner is not None and owner.url is not None:
                act(owner.url)
                return

    thread = threading.Thread(target=wait, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 0), (signal.SIGINT, 130)])
def test_serve_says_where_it_listens_and_ends_on_a_signal(
    blockwire: Run, number: int, status: int
) -> None:
    _once_serving(lambda _url: os.kill(os.getpid(), number))

    ended = blockwire("serve", "--port", "0", "--program", "cat")

    assert ended.status == status
    assert ended.out.startswith("listening on http://127.0.0.1:")
    assert ended.out.count("\n") == 1
    assert "program" in ended.err
    assert "conversations.db" in ended.err


def test_a_port_that_is_taken_is_an_error_that_says_so(blockwire: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = blockwire("serve", "--port", str(taken.getsockname()[1]))

    assert ended.status == 1
    assert "0 picks a free one" in ended.err


def test_a_command_with_its_own_gateway_ends_in_order_on_sigterm(
    home: Path, blockwire: Run
) -> None:
    (home / "c.toml").write_text(
        '[engines.slow]\nkind = "command"\ncommand = ["sleep", "60"]\n', encoding="utf-8"
    )
    ended: list[Ended] = []

    def act(url: str) -> None:
        # Once the turn runs.
        while not any(
            "running_turn_id" in item for item in call(url, "/v1/conversations")["items"]
        ):
            pass
        os.kill(os.getpid(), signal.SIGTERM)

    _once_serving(act)
    ended.append(blockwire("ask", "x", "--config", "c.toml"))

    assert ended[0].status == 128 + signal.SIGTERM
    (turn,) = lines(blockwire("show", "--json"))[1:]
    assert turn["status"] in {"cancelled", "failed"}, "stopped, or the signal was faster than that"


def test_a_gateway_beyond_loopback_warns_of_a_readable_token_file(
    home: Path, blockwire: Run
) -> None:
    tokens = home / "tokens.toml"
    tokens.write_text(
        f'[[tokens]]\nname = "me"\nsha256 = "{"0" * 64}"\nscopes = ["read", "write"]\n',
        encoding="utf-8",
    )
    tokens.chmod(0o644)
    _once_serving(lambda _url: os.kill(os.getpid(), signal.SIGTERM))

    ended = blockwire("serve", "--port", "0", "--token-file", "tokens.toml")
    asked = blockwire("ask", "x", "--config", _with_tokens(home))

    assert ended.status == 0
    assert "chmod 600" in ended.err
    assert asked.status == 0, "its own gateway lets it in"


def _with_tokens(home: Path) -> str:
    path = Path(at_once(home))
    path.write_text(
        f'token_file = "tokens.toml"\n{path.read_text(encoding="utf-8")}', encoding="utf-8"
    )
    return str(path)


# documents ----------------------------------------------------------------------------------
RECORDING = b"".join(
    b"data: " + json.dumps(
        {"id": "x", "model": "m-1", "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
    ).encode() + b"\n\n"
    for delta, end in [({"role": "assistant", "content": "Hel"}, None), ({"content": "lo"}, None), ({}, "stop")]
) + b"data: [DONE]\n\n"  # fmt: skip


def test_a_recording_is_decoded_to_events_to_a_message_and_onto_the_screen(
    home: Path, blockwire: Run
) -> None:
    (home / "answer.sse").write_bytes(RECORDING)

    events = blockwire("decode", "openai-chat", "answer.sse")
    (message,) = lines(blockwire("decode", "openai-chat", "answer.sse", "--message"))
    played = blockwire("replay", "answer.sse", "--api", "openai-chat", "--speed", "0")
    (home / "events.ndjson").write_text(events.out, encoding="utf-8")
    (home / "message.json").write_text(json.dumps(message), encoding="utf-8")

    assert [e["type"] for e in lines(events)][0::100] == ["turn.started"]
    assert message["content"][0]["markdown"] == "Hello"
    assert message["model"] == "m-1"
    assert (played.status, played.out) == (0, "Hello\n")
    assert blockwire("validate", "events", "events.ndjson").out == "valid\n"
    assert blockwire("validate", "message", "message.json").out == "valid\n"
    assert "prose-and-code" in blockwire("replay").out
    assert blockwire("replay", "prose-and-code", "--speed", "0").status == 0


def test_validate_names_what_is_wrong_and_where(home: Path, blockwire: Run) -> None:
    (home / "block.json").write_text('{"id": "b", "type": "prose"}', encoding="utf-8")
    (home / "events.ndjson").write_text('{"type": "turn.completed"}\n{}\n', encoding="utf-8")

    block = blockwire("validate", "block", "block.json")
    events = blockwire("validate", "events", "events.ndjson")

    assert block.status == events.status == 1
    assert "/markdown" in block.err
    assert "line 1: " in events.err
    assert "line 2: " in events.err


def test_schemas_are_listed_and_printed(blockwire: Run) -> None:
    names = blockwire("schema").out.split()

    assert {"engine-request", "terminal_message", "terminal_block_extend"} <= set(names)
    for name in names:
        (schema,) = lines(blockwire("schema", f"{name}.json"))
        assert schema["$schema"]


# the machine --------------------------------------------------------------------------------
def test_doctor_finds_nothing_wrong_with_an_empty_home(blockwire: Run) -> None:
    ended = blockwire("doctor")

    assert ended.status == 0
    assert "will be made at the first start" in ended.out
    assert not STORE.exists()


def test_doctor_says_what_is_wrong(
    home: Path, blockwire: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLOCKWIRE_STOR", "x")
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    (home / "garbage.db").write_bytes(b"no database at all, and long enough to be one" * 100)
    (home / "c.toml").write_text('[engines.o]\nkind = "openai"\n', encoding="utf-8")
    blockwire("ask", "x", "--config", at_once(home))

    garbage = blockwire("doctor", "--store", "sqlite:///garbage.db")
    memory = blockwire("doctor", "--store", "memory:", "--config", "c.toml")
    nowhere = blockwire("doctor", "--store", "sqlite:////proc/none/x.db", "--json")
    wrong = blockwire("doctor", "--config", "none.toml")
    fine = blockwire("doctor")

    assert (garbage.status, "PROBLEM  store" in garbage.out) == (1, True)
    assert "BLOCKWIRE_STORE?" in garbage.out
    assert memory.status == 0
    assert "nothing survives" in memory.out
    assert "set OPENAI_API_KEY" in memory.out
    assert nowhere.status == 1
    (findings,) = lines(nowhere)
    assert {"verdict", "what", "detail"} == findings[0].keys()
    assert (wrong.status, "PROBLEM  configuration" in wrong.out) == (1, True)
    assert "is in order" in fine.out


def test_a_damaged_store_is_told_line_by_line(home: Path, blockwire: Run) -> None:
    blockwire("ask", "x", "--config", at_once(home))
    with sqlite3.connect(STORE) as connection:
        connection.execute("DELETE FROM log WHERE last_seq = (SELECT min(last_seq) FROM log)")
    connection.close()

    ended = blockwire("check")
    as_json = blockwire("check", "--json")

    assert ended.status == as_json.status == 1
    assert "keep a copy" in ended.err
    assert lines(as_json)[0][0].keys() == {"where", "code", "detail"}


def test_the_demo_plays(blockwire: Run) -> None:
    ended = blockwire("demo", "--speed", "0", "--width", "60", "--color", "always")

    assert ended.status == 0, ended.out
    assert "to the last character" in ended.out
    assert "turn_interrupted" in ended.out


def test_what_is_not_ours_to_say_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(**_options: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(cli, "main", fail)

    with pytest.raises(RuntimeError):
        main([])


CHECKED: list[tuple[str, str | None]] = [
    # file, what is wrong
    ('log_level = "info"\n[engines.x]\nkind = "external"\n', None),
    ("port = 99999999\n", "port"),
    ("nonsense = 1\n", "there is no setting nonsense"),
    ('[engines.x]\nkind = "command"\n', "engines.x"),
    ('token_file = "none.toml"\n', "none.toml"),
    ('trusted_proxies = ["x"]\n', "trusted_proxies"),
]


@pytest.mark.requirement("gateway:operations:config-check")
@pytest.mark.parametrize(("text", "wrong"), CHECKED)
@pytest.mark.parametrize("is_named", [True, False])
def test_a_configuration_is_checked_before_a_gateway_meets_it(
    blockwire: Run, home: Path, text: str, wrong: str | None, *, is_named: bool
) -> None:
    path = home / ("mine.toml" if is_named else "config/blockwire/config.toml")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")

    ended = blockwire("config", "check", *(["mine.toml"] if is_named else []))

    if wrong is None:
        assert (ended.status, ended.out, ended.err) == (0, "ok\n", "")
    else:
        assert ended.status == 1
        assert wrong in ended.err
        assert ended.out == ""


def test_the_file_that_would_be_read_is_named(
    blockwire: Run, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert blockwire("config", "path").out == f"{home}/config/blockwire/config.toml\n"
    monkeypatch.setenv("BLOCKWIRE_CONFIG", "/etc/blockwire/config.toml")
    assert blockwire("config", "path").out == "/etc/blockwire/config.toml\n"
