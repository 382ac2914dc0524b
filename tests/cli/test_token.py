"""``blockwire token``: on the store itself, at a gateway that runs, and what it means for others."""

from __future__ import annotations

import re
import stat
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from blockwire.cli.system import SystemClock
from blockwire.jsontext import decode_json
from blockwire.stores import StoreLock, list_tokens_in, read_owner
from tests.cli.conftest import Run
from tests.support.programs import Gateway, environment, run

pytestmark = pytest.mark.timeout(60)

SECRET = re.compile(r"bw_[A-Za-z0-9_-]{49}")


def status(url: str, secret: str | None = None, path: str = "/v1/conversations") -> int:
    """Return the status of an answer."""
    headers = {} if secret is None else {"authorization": f"Bearer {secret}"}
    try:
        with urllib.request.urlopen(urllib.request.Request(url + path, headers=headers)) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        error.close()
        return error.code


def rows(out: str) -> list[Any]:
    return [decode_json(line.encode()) for line in out.splitlines()]


@pytest.mark.requirement("auth:store:once")
def test_a_token_is_made_printed_once_listed_and_taken_back(blockwire: Run, home: Path) -> None:
    nothing = blockwire("token", "list")
    made = blockwire("token", "create", "ci", "--scope", "write,read", "--expires", "30d")
    listed = blockwire("token", "list")
    (row,) = rows(blockwire("token", "list", "--json").out)

    assert (nothing.status, nothing.out) == (0, "")
    assert "no tokens yet" in nothing.err
    assert made.status == 0
    assert SECRET.fullmatch(made.out.strip())
    assert "cannot be shown again" in made.err
    assert "everybody needs a token" in made.err
    assert row["scopes"] == ["read", "write"]
    assert row["expires_at"] - row["created_at"] == pytest.approx(30 * 86_400_000, abs=60_000)
    assert re.match(r"ci +read,write +until \d{4}-\d\d-\d\d +never used\n\Z", listed.out)
    for text in (listed.out, listed.err, made.err):
        assert not SECRET.search(text)
    store = home / "data/blockwire/conversations.db"
    assert [token.name for token in list_tokens_in(store)] == ["ci"]
    assert made.out.strip().encode() not in store.read_bytes()

    assert "everybody" not in blockwire("token", "create", "other", "--tenant", "acme").err
    assert "tenant acme" in blockwire("token", "list").out
    again = blockwire("token", "create", "ci")
    assert again.status == 1
    assert "[token_exists]" in again.err
    assert blockwire("token", "revoke", "ci").status == 0
    assert re.search(r"ci .*revoked \d{4}", blockwire("token", "list").out)
    assert "loopback" not in blockwire("token", "revoke", "ci", "--forget").err
    assert "needs none" in blockwire("token", "revoke", "other", "--forget").err
    gone = blockwire("token", "revoke", "ci")
    assert (gone.status, "[token_not_found]" in gone.err) == (1, True)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("a b",), "letters"),
        (("a", "--scope", "root"), "some of"),
        (("a", "--scope", ""), "some of"),
        (("a", "--expires", "soon"), "30d"),
        (("a", "--expires", "0d"), "30d"),
        (("a", "--tenant", "x y"), "letters"),
        (("a", "--store", "memory:"), "memory keeps no token"),
    ],
)
def test_a_token_that_cannot_be_is_refused(
    blockwire: Run, home: Path, arguments: tuple[str, ...], says: str
) -> None:
    refused = blockwire("token", "create", *arguments)

    assert refused.status in {1, 2}
    assert says in refused.err
    assert refused.out == ""
    assert not (home / "data").exists()


def test_an_expired_token_is_said_to_be_one(
    blockwire: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    blockwire("token", "create", "a", "--expires", "1m")
    now_ms = SystemClock().now_ms()
    monkeypatch.setattr(SystemClock, "now_ms", lambda _clock: now_ms + 60_000)

    assert re.search(r"a .*expired \d{4}", blockwire("token", "list").out)


@pytest.mark.slow
@pytest.mark.requirement("auth:key:local", "auth:revoke:at-once")
def test_a_gateway_that_runs_knows_at_once_and_own_commands_go_on(home: Path) -> None:
    env = environment(home)
    with Gateway(env, cwd=home) as gateway:
        assert status(gateway.url) == 200

        made = run("token", "create", "me", "--scope", "read", env=env)
        secret = made.stdout.decode().strip()

        assert made.returncode == 0
        assert status(gateway.url) == 401
        assert status(gateway.url, secret) == 200
        # Commands of the same user on this machine: the key in the lock file.
        asked = run("ask", "hello", env=env)
        assert (asked.returncode, bool(asked.stdout)) == (0, True)
        assert run("list", env=env).returncode == 0
        # What is set by hand counts, and is told when it is wrong.
        wrong = run("list", env=env | {"BLOCKWIRE_TOKEN": "x"})
        assert b"[unauthorized]" in wrong.stderr
        far = run("list", "--url", gateway.url, env=env)
        assert b"[unauthorized]" in far.stderr
        assert (
            run("list", "--url", gateway.url, env=env | {"BLOCKWIRE_TOKEN": secret}).returncode == 0
        )
        (row,) = rows(run("token", "list", "--json", env=env).stdout.decode())
        assert (row["name"], "used_at" in row) == ("me", True)

        assert run("token", "revoke", "me", env=env).returncode == 0
        assert status(gateway.url, secret) == 401
        assert status(gateway.url) == 401
        gateway.kill()
        gateway.restart()
        assert status(gateway.url) == 401
        assert run("token", "revoke", "me", "--forget", env=env).returncode == 0
        assert status(gateway.url) == 200
        out, err = gateway.process.stdout, gateway.process.stderr
        gateway.stop()
        assert out is not None
        assert err is not None


@pytest.mark.requirement("auth:bind:tokens")
def test_other_machines_are_let_in_once_there_is_a_token(home: Path) -> None:
    env = environment(home)
    refused = run("serve", "--host", "0.0.0.0", "--port", "0", env=env)
    secret = run("token", "create", "far", env=env).stdout.decode().strip()

    assert refused.returncode == 1
    assert b"blockwire token create" in refused.stderr
    assert b"[tokens_required]" in refused.stderr
    assert refused.stdout == b""
    with Gateway(env, "--host", "0.0.0.0", cwd=home) as gateway:
        assert status(gateway.url) == 401
        assert status(gateway.url, secret) == 200


@pytest.mark.requirement("auth:key:local")
def test_the_key_of_a_gateway_is_for_its_user_and_for_one_run(tmp_path: Path) -> None:
    path = tmp_path / "store.db"
    lock_file = tmp_path / "store.db.lock"
    lock_file.touch(mode=0o644)
    lock = StoreLock.acquire(path)
    lock.write_url("http://127.0.0.1:1", "bw_key")

    owner = read_owner(path)
    assert owner is not None
    assert owner.key == "bw_key"
    assert "bw_key" not in repr(owner)
    assert stat.S_IMODE(lock_file.stat().st_mode) == 0o600
    lock_file.chmod(0o640)
    lock.write_url("http://127.0.0.1:1", "bw_key")
    shown = read_owner(path)
    assert shown is not None
    assert shown.key is None
    lock.release()
    assert lock_file.read_bytes() == b""


def test_doctor_says_that_a_bind_needs_a_token(
    blockwire: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BLOCKWIRE_HOST", "0.0.0.0")

    before = blockwire("doctor")
    blockwire("token", "create", "a")
    after = blockwire("doctor")

    assert "PROBLEM  tokens: " in before.out
    assert "PROBLEM  tokens: " not in after.out
