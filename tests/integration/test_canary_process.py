"""The canary in a real process: secrets of engines, their standard error, logs of all levels, disk.

A program of the engine ``command`` knows secrets of its environment and says them wherever it can; a
provider echoes the key that it was sent. Nothing of it may be in an answer, a log, or a file.
"""

from __future__ import annotations

import textwrap
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Final

import pytest

from blockwire.jsontext import decode_json, encode_json
from tests.gateway.http.callbook import CALLBOOK, ROUTES, target_of
from tests.support.programs import Gateway, environment, run

pytestmark = [pytest.mark.timeout(120), pytest.mark.slow]

IN_ENVIRONMENT: Final = "CanaryEnvironment7Word"
IN_TABLE: Final = "CanaryTable8Word"
THOUGHT: Final = "CanaryThoughtWord"
PROGRAM: Final = """
import os, sys, json
request = json.load(sys.stdin)
secrets = [os.environ[name] for name in ("AGENT_LOGIN", "AGENT_TABLE")]
print("it failed with", *secrets, file=sys.stderr, flush=True)
question = json.dumps(request["messages"][-1])
def say(**event): print(json.dumps(event), flush=True)
say(type="content.block.started", block={"id": "r", "type": "reasoning", "text": "THOUGHT"})
say(type="content.block.completed", block_id="r")
for number, secret in enumerate(secrets):
    say(type="content.block.started", block={
        "id": f"t{number}", "type": "tool", "tool": "x", "status": "failed",
        "error": {"stderr": f"login {secret} refused"}})
    say(type="content.block.completed", block_id=f"t{number}")
    say(type="content.block.started", block={
        "id": f"e{number}", "type": "error", "code": "agent_error",
        "message": "password was " + "".join(f"%{byte:02X}" for byte in secret.encode())})
    say(type="content.block.completed", block_id=f"e{number}")
if "crash" in question:
    raise SystemExit("bye " + secrets[0].upper())
say(type="content.block.started", block={"id": "p", "type": "prose", "markdown": "done"})
say(type="content.block.completed", block_id="p")
""".replace("THOUGHT", THOUGHT)


def ask(url: str, method: str, body: bytes, secret: str, media_type: str) -> bytes:
    headers = {"content-type": media_type} | (
        {"authorization": f"Bearer {secret}"} if secret else {}
    )
    request = urllib.request.Request(url, data=body or None, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return repr(dict(answer.headers)).encode() + bytes(answer.read())
    except urllib.error.HTTPError as error:
        return bytes(error.read())


def made(url: str, path: str, secret: str, value: Any) -> str:
    answer = ask(url + path, "POST", encode_json(value), secret, "application/json")
    found: Any = decode_json(answer[answer.index(b"}") + 1 :] if b"}{" in answer else answer)
    return str(found["id"])


@pytest.mark.requirement("auth:canary:elsewhere")
def test_no_secret_of_an_engine_is_in_an_answer_a_log_or_a_file(tmp_path: Path) -> None:
    (tmp_path / "agent.py").write_text(textwrap.dedent(PROGRAM), encoding="utf-8")
    (tmp_path / "tmp").mkdir()
    config = f"""
        [engines.agent]
        kind = "command"
        command = ["python3", "{tmp_path / "agent.py"}"]
        pass_env = ["AGENT_LOGIN", "PATH"]
        env = {{ AGENT_TABLE = "{IN_TABLE}" }}
    """
    (tmp_path / "config.toml").write_text(textwrap.dedent(config), encoding="utf-8")
    env = environment(tmp_path, AGENT_LOGIN=IN_ENVIRONMENT, TMPDIR=str(tmp_path / "tmp"))
    scopes = "read,write,admin,metrics"
    reader = run("token", "create", "reader", "--scope", scopes, env=env).stdout.decode().strip()
    owner = run("token", "create", "owner", "--scope", f"{scopes},reasoning", env=env)
    owner_secret = owner.stdout.decode().strip()
    arguments = ("--config", "config.toml", "--log-level", "debug")
    answers: list[bytes] = []
    gateway = Gateway(env, *arguments, cwd=tmp_path)
    try:
        url = gateway.url
        conversation = made(url, "/v1/conversations", reader, {})
        path = f"/v1/conversations/{conversation}"
        turn = made(url, f"{path}/turns", reader, {"content": "Hi", "engine": "agent"})
        ask(f"{url}{path}/turns/{turn}?wait=20", "GET", b"", reader, "")
        crashed = made(url, f"{path}/turns", reader, {"content": "crash", "engine": "agent"})
        ask(f"{url}{path}/turns/{crashed}?wait=20", "GET", b"", reader, "")
        places = {"conversation_id": conversation, "turn_id": turn, "name": "block.json"}
        safe = [name for name, route in ROUTES.items() if route.method == "GET"]
        for secret in (reader, owner_secret, "", f"{reader}x"):
            for name in safe:
                for query in (CALLBOOK[name].query, *CALLBOOK[name].variants):
                    target = target_of(name, places, query)
                    answers.append(ask(url + target.url, "GET", b"", secret, ""))
        by_owner = ask(f"{url}{path}/messages", "GET", b"", owner_secret, "")
    finally:
        gateway.process.terminate()
        out, err = gateway.process.communicate(timeout=30)

    assert b"done" in by_owner
    assert THOUGHT.encode() in by_owner
    assert by_owner.count(b"[redacted]") >= 6
    assert b"DEBUG" in err or b"debug" in err
    words = [IN_ENVIRONMENT, IN_TABLE, reader, owner_secret]
    everything = b"".join([*answers, out, err]).lower()
    assert [word for word in words if word.lower().encode() in everything] == []
    assert THOUGHT.encode() not in out + err
    own = {"agent.py", "config.toml"}
    for file in tmp_path.rglob("*"):
        if file.is_file() and file.name not in own:
            data = file.read_bytes().lower()
            assert [word for word in words if word.lower().encode() in data] == [], file
            is_store = file.name.startswith("conversations.db")
            assert is_store or THOUGHT.lower().encode() not in data, file
