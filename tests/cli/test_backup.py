"""``backup``: a copy beside a running gateway, its refusals, and what Ctrl-C leaves."""

import asyncio
import os
import signal
import stat
import subprocess
from pathlib import Path

import pytest

from blockwire.cli.keeping import upkeep_settings
from blockwire.cli.settings import load_config
from blockwire.errors import LocalProtocolError
from blockwire.stores import SqliteStore
from blockwire.testing.store_script import new_conversation
from tests.cli.conftest import Run
from tests.support.programs import Gateway, call, command_after, environment, run

pytestmark = pytest.mark.timeout(60)


@pytest.mark.case("P06")
@pytest.mark.requirement("store:backup:acknowledged")
def test_a_copy_beside_a_gateway_has_what_was_acknowledged(tmp_path: Path) -> None:
    env = environment(tmp_path)
    with Gateway(env) as gateway:
        made = call(gateway.url, "/v1/conversations", method="POST", body={"title": "kept"})
        message = {
            "id": "msg_1", "role": "user", "status": "completed", "created_at": 1,
            "content": [{"id": "b1", "type": "prose", "markdown": "acknowledged"}],
        }  # fmt: skip
        path = f"/v1/conversations/{made['id']}/messages"
        call(gateway.url, path, method="POST", body=message)
        before = run("list", "--json", env=env).stdout

        copied = run("backup", "copy.db", env=env, cwd=tmp_path)
        gateway.kill()

    assert (copied.returncode, copied.stderr) == (0, b"")
    assert copied.stdout.startswith(b"copy.db: ")
    copy = tmp_path / "copy.db"
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    # It is put back in the place of the store.
    store = tmp_path / "data/blockwire/conversations.db"
    for old in store.parent.glob("conversations.db*"):
        old.unlink()
    copy.rename(store)
    assert run("check", env=env).stdout == b"ok\n"
    assert run("list", "--json", env=env).stdout == before
    assert b"acknowledged" in run("show", made["id"], env=env).stdout


def test_nothing_is_overwritten_and_nothing_is_made_of_nothing(
    blockwire: Run, tmp_path: Path
) -> None:
    store = f"sqlite:///{tmp_path / 'store.db'}"
    missing = blockwire("backup", str(tmp_path / "copy.db"), "--store", store)
    memory = blockwire("backup", str(tmp_path / "copy.db"), "--store", "memory:")
    _make_store(tmp_path / "store.db")
    (tmp_path / "copy.db").write_bytes(b"precious")
    there = blockwire("backup", str(tmp_path / "copy.db"), "--store", store)
    nowhere = blockwire("backup", str(tmp_path / "no" / "copy.db"), "--store", store)

    for ended, code in (
        (missing, "store_not_found"),
        (memory, "invalid_store_url"),
        (there, "backup_exists"),
        (nowhere, "backup_failed"),
    ):
        assert (ended.status, ended.out) == (1, "")
        assert f"[{code}]" in ended.err
    assert (tmp_path / "copy.db").read_bytes() == b"precious"
    assert sorted(path.name for path in tmp_path.iterdir() if "part" in path.name) == []


def _make_store(path: Path) -> None:
    async def make() -> None:
        async with SqliteStore(path, synchronous="NORMAL") as store:
            await store.create_conversation(new_conversation())

    asyncio.run(make())


# However quick the machine is, a copy is still being made when the signal comes.
PATIENT_COPY = """
from blockwire.cli.commands import backup as command
from blockwire.stores.sqlite import copying

copying.STEPS_PER_LOOK = 1
asked = command.backup_store

def backup_store(path, target, *, on_progress, stopping):
    def wait(step):
        on_progress(step)
        stopping.wait(30)

    asked(path, target, on_progress=wait, stopping=stopping)

command.backup_store = backup_store
"""


@pytest.mark.requirement("store:backup:whole")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.skipif(os.name == "nt", reason="Windows has no such signals")
def test_a_copy_that_is_given_up_leaves_nothing(tmp_path: Path, number: signal.Signals) -> None:
    store, folder = tmp_path / "store.db", tmp_path / "copies"
    folder.mkdir()
    _make_store(store)
    before = store.read_bytes()
    arguments = ["backup", str(folder / "copy.db"), "--store", f"sqlite:///{store}"]
    process = subprocess.Popen(
        command_after(PATIENT_COPY, *arguments),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(tmp_path),
    )
    while not list(folder.iterdir()):
        assert process.poll() is None, process.communicate()

    process.send_signal(number)
    _, errors = process.communicate(timeout=30)

    assert process.returncode == 128 + number, errors
    assert list(folder.iterdir()) == []
    assert store.read_bytes() == before, "it is read, and nothing else"


# settings -----------------------------------------------------------------------------------
def _config(**env: str) -> dict[str, object]:
    names = {f"BLOCKWIRE_{name.upper()}": value for name, value in env.items()}
    return upkeep_settings(load_config({}, path=os.devnull, env=names))


def test_what_is_kept_is_set_in_days_and_mebibytes() -> None:
    names = {"upkeep_interval_s", "keep_events_s", "keep_conversation_bytes", "keep_total_bytes"}
    names |= {"keep_pairs_s"}
    by_default = _config()
    assert {name: by_default[name] for name in names} == {
        name: 60 if name == "upkeep_interval_s" else 0 for name in names
    }
    found = _config(
        upkeep_s="5", keep_days="30", keep_conversation_mib="2", keep_total_mib="3",
        keep_pairs_days="1",
    )  # fmt: skip
    assert {name: found[name] for name in names} == {
        "upkeep_interval_s": 5,
        "keep_events_s": 30 * 86_400,
        "keep_conversation_bytes": 2 * 1_048_576,
        "keep_total_bytes": 3 * 1_048_576,
        "keep_pairs_s": 86_400,
    }


def test_a_bound_that_nobody_would_enforce_is_refused() -> None:
    assert _config(upkeep_s="0")["upkeep_interval_s"] == 0.0
    with pytest.raises(LocalProtocolError) as refused:
        _config(upkeep_s="0", keep_days="30")
    assert refused.value.code == "invalid_config"
    assert "keep_days" in refused.value.detail
