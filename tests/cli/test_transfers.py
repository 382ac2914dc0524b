"""``blockwire export`` and ``blockwire import``, called as a person calls them."""

import os
import shutil
import signal
import socket
import stat
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import pytest

from blockwire.archives import ArchiveWriter
from blockwire.cli.newfiles import new_file
from blockwire.errors import LocalProtocolError
from blockwire.jsontext import Json, encode_json
from tests.archives.samples import archive_lines
from tests.archives.test_histories import FOLDER, FORMATS
from tests.cli.conftest import Ended, Run
from tests.support.programs import (
    Gateway,
    Terminal,
    call,
    command,
    command_after,
    decoded,
    environment,
)
from tests.support.transfers import archived_messages

pytestmark = pytest.mark.timeout(60)

WHOLE = b"".join(archive_lines(2))


def imported(ended: Ended) -> list[Any]:
    assert ended.status == 0, ended.err
    return [decoded(line) for line in ended.out.splitlines()]


def saved(folder: Path, data: bytes = WHOLE, name: str = "moved.jsonl") -> Path:
    path = folder / name
    path.write_bytes(data)
    return path


def leftovers(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if ".part" in path.name)


# round trip --------------------------------------------------------------------------------
def test_an_archive_comes_in_and_goes_out_again(blockwire: Run, tmp_path: Path) -> None:
    source = saved(tmp_path)

    came = blockwire("import", str(source))
    again = blockwire("import", str(source))
    copied = imported(blockwire("import", "--copy", "--json", str(source)))
    out = blockwire("export", "--all", "-o", "all.jsonl")
    listed = blockwire("list", "--json")

    assert came.status == 0
    assert came.err == "imported 2 conversations\n"
    assert [line.split()[1:] for line in came.out.splitlines()] == [["2", "messages", "Coins"]] * 2
    assert again.err == "imported 0 conversations; 2 were here already\n"
    assert again.out.count("(here already)") == 2
    assert [one["source_id"] for one in copied] == ["conv_1", "conv_1"]
    assert out.err == "exported 4 conversations to all.jsonl\n"
    assert len(archived_messages((tmp_path / "all.jsonl").read_bytes())) == 8
    assert len(listed.out.splitlines()) == 4
    assert stat.S_IMODE((tmp_path / "all.jsonl").stat().st_mode) == 0o600
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize(
    ("file", "beginning"),
    [
        ("c.md", "# Coins"),
        ("c.html", "<!"),
        ("c.txt", "Coins"),
        ("c.json", '{"conversation":'),
        ("c.jsonl", '{"type":"archive.started"'),
        ("c", "# Coins"),
    ],
)
def test_the_ending_says_the_format(
    blockwire: Run, tmp_path: Path, file: str, beginning: str
) -> None:
    name = imported(blockwire("import", "--json", str(saved(tmp_path))))[0]["id"]

    ended = blockwire("export", name, "-o", file)

    text = (tmp_path / file).read_text(encoding="utf-8")
    assert ended.status == 0
    assert text.startswith(beginning)
    assert "Three weighings do." in text
    # Reasoning leaves with the archive and the data, not with what others are to read.
    assert ("Three." in text.replace("Three weighings", "")) is ("json" in file)


def test_an_export_goes_to_standard_output(blockwire: Run, tmp_path: Path) -> None:
    name = imported(blockwire("import", "--json", str(saved(tmp_path))))[0]["id"]

    plain = blockwire("export", name, "--format", "text")
    dash = blockwire("export", name, "--format", "text", "-o", "-")
    reasoning = blockwire("export", name, "--format", "text", "--reasoning")
    public = blockwire("export", name, "--format", "json", "--public")

    assert plain.status == 0
    assert (plain.out, plain.err) == (dash.out, "")
    assert "Three.\n" in reasoning.out
    assert '"Three."' not in public.out


def test_all_conversations_become_files_of_a_folder(blockwire: Run, tmp_path: Path) -> None:
    blockwire("import", str(saved(tmp_path)))

    ended = blockwire("export", "--all", "--format", "markdown", "-o", "out/notes")
    again = blockwire("export", "--all", "--format", "markdown", "-o", "out/notes")
    forced = blockwire("export", "--all", "--format", "markdown", "-o", "out/notes", "--force")

    names = sorted(path.name for path in (tmp_path / "out" / "notes").iterdir())
    assert ended.err == "exported 2 conversations to out/notes\n"
    assert len(names) == 2
    assert names[1] == "Coins.md"
    assert names[0].startswith("Coins conv_")
    assert (again.status, forced.status) == (1, 0)
    assert "file_exists" in again.err


# refusals ----------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("export",), "Name a CONVERSATION, or give --all"),
        (("export", "conv_1", "--all"), "Name a CONVERSATION, or give --all"),
        (("export", "conv_1", "--public", "--reasoning"), "contradict each other"),
        (("export", "--all", "--format", "html"), "needs a folder"),
        (("export", "conv_1", "-o", "talk.docx"), ".docx is no known ending (.md, "),
        (("import",), "Missing argument 'FILE...'"),
        (("import", "x", "--from", "word"), "word"),
    ],
)
def test_wrong_usage(blockwire: Run, arguments: tuple[str, ...], sentence: str) -> None:
    ended = blockwire(*arguments)

    assert ended.status == 2
    assert sentence in ended.err


def test_a_file_that_is_there_is_not_replaced(blockwire: Run, tmp_path: Path) -> None:
    name = imported(blockwire("import", "--json", str(saved(tmp_path))))[0]["id"]
    (tmp_path / "mine.md").write_text("mine", encoding="utf-8")

    refused = blockwire("export", name, "-o", "mine.md")
    folder = blockwire("export", name, "-o", str(tmp_path))
    missing = blockwire("export", name, "-o", "no/where.md")
    forced = blockwire("export", name, "-o", "mine.md", "--force")
    device = blockwire("export", name, "-o", "/dev/null", "--format", "text")

    assert (refused.status, folder.status, missing.status) == (1, 1, 1)
    assert "file_exists" in refused.err
    assert "file_unwritable" in folder.err
    assert "file_unwritable" in missing.err
    assert (forced.status, device.status) == (0, 0)
    assert (tmp_path / "mine.md").read_text(encoding="utf-8").startswith("# Coins")
    assert leftovers(tmp_path) == []


def test_an_export_of_nothing_known_leaves_no_file(blockwire: Run, tmp_path: Path) -> None:
    blockwire("import", str(saved(tmp_path)))

    ended = blockwire("export", "conv_unknown", "-o", "x.md")

    assert ended.status == 1
    assert "conversation_not_found" in ended.err
    assert not (tmp_path / "x.md").exists()
    assert leftovers(tmp_path) == []


@pytest.mark.case("P07")
def test_an_archive_that_was_cut_is_refused_before_anything_is_sent(
    blockwire: Run, tmp_path: Path
) -> None:
    cut = saved(tmp_path, WHOLE[:-300])
    changed = saved(tmp_path, WHOLE.replace(b"Coins", b"Clubs"), "changed.jsonl")
    odd = saved(tmp_path, WHOLE.replace(b'"role":"user"', b'"role":"boss"'), "odd.jsonl")

    ended = blockwire("import", str(cut), str(changed), str(odd), "missing.jsonl")

    assert ended.status == 1
    assert "archive_truncated" in ended.err
    assert "archive_mismatch" in ended.err
    assert "line 7: expected one of" in ended.err
    assert "(at /message/role) [invalid_enum]" in ended.err
    assert "missing.jsonl: cannot read missing.jsonl" in ended.err
    assert ended.err.endswith("imported 0 conversations\n")


# histories ---------------------------------------------------------------------------------
@pytest.mark.parametrize("name", FORMATS)
def test_a_history_is_imported_once(blockwire: Run, name: str) -> None:
    first = imported(blockwire("import", "--json", str(FOLDER / name)))
    again = imported(blockwire("import", "--json", str(FOLDER / name)))
    shown = blockwire("show", first[0]["id"])

    assert all(one["is_new"] for one in first)
    assert [one["is_new"] for one in again] == [False] * len(first)
    assert [one["id"] for one in again] == [one["id"] for one in first]
    assert shown.status == 0
    check = blockwire("check")
    assert check.status == 0, check.out + check.err


def test_a_dry_run_tells_and_does_nothing(blockwire: Run, tmp_path: Path) -> None:
    ended = blockwire(
        "import", "--dry-run", str(FOLDER / "chatgpt-2026-02.json"), str(saved(tmp_path))
    )

    assert ended.status == 0
    assert "Water for bread" in ended.out
    assert "kept: sonic_webpage: 1 (first at /0/mapping/w1/message/content)" in ended.err
    assert "would import 4 conversations" in ended.err
    assert not (tmp_path / "data").exists()


def test_branches_can_be_left_out(blockwire: Run) -> None:
    file = str(FOLDER / "chatgpt-2026-02.json")

    ended = blockwire("import", "--no-branches", file)

    assert "left out: other branches: 1" in ended.err
    assert "imported 2 conversations" in ended.err


def test_a_zip_is_looked_into(blockwire: Run, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(FOLDER / "chatgpt-2026-02.json", "data/conversations.json")
        archive.writestr("data/user.json", "{}")
    with zipfile.ZipFile(tmp_path / "empty.zip", "w") as archive:
        archive.writestr("user.json", "{}")
    damaged = bytearray((tmp_path / "export.zip").read_bytes())
    damaged[100:140] = bytes(40)
    (tmp_path / "damaged.zip").write_bytes(damaged)

    good = blockwire("import", "export.zip")
    empty = blockwire("import", "empty.zip")
    bad = blockwire("import", "damaged.zip")

    assert good.err.endswith("imported 3 conversations\n")
    assert (empty.status, bad.status) == (1, 1)
    assert "holds no conversations.json" in empty.err
    assert "cannot read damaged.zip" in bad.err


def test_folders_are_looked_into(blockwire: Run, tmp_path: Path) -> None:
    sessions = tmp_path / "codex" / "2026" / "01" / "05"
    sessions.mkdir(parents=True)
    shutil.copy(FOLDER / "codex-0.80.jsonl", sessions / "rollout-1.jsonl")
    (tmp_path / "nothing").mkdir()

    codex = blockwire("import", "codex")
    nothing = blockwire("import", "nothing")

    assert codex.err.endswith("imported 1 conversation\n")
    assert nothing.status == 1
    assert "holds no history" in nothing.err


def test_the_storage_of_opencode_is_read(blockwire: Run, tmp_path: Path) -> None:
    exported: Any = decoded((FOLDER / "opencode-1.1.json").read_bytes())
    storage = tmp_path / "opencode" / "storage"

    def put(path: str, value: Any) -> None:
        target = storage / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(encode_json(value).decode(), encoding="utf-8")

    put("session/global/ses_1.json", exported["info"])
    put("session/global/ses_bad.json", [])
    (storage / "session" / "global" / "ses_bad.json").write_bytes(b"{")
    for message in exported["messages"]:
        put(f"message/ses_1/{message['info']['id']}.json", message["info"])
        for part in message["parts"]:
            put(f"part/{message['info']['id']}/{part['id']}.json", part)
    put("message/ses_1/msg_z.json", {})

    ended = blockwire("import", "--json", "opencode")
    told = [decoded(line) for line in ended.out.splitlines()]

    assert ended.status == 1
    assert [one["title"] for one in told] == ["Sourdough"]
    assert "unreadable: files (invalid_json): 1 (first at ses_bad.json)" in ended.err


def test_a_file_of_no_known_kind_can_be_named(blockwire: Run, tmp_path: Path) -> None:
    odd = saved(tmp_path, b"[]", "odd.json")

    unknown = blockwire("import", str(odd))
    named = blockwire("import", "--from", "claude", str(odd))
    code = blockwire("import", "--from", "claude", str(FOLDER / "claude-code-2.1.jsonl"))
    wrong = blockwire("import", "--from", "blockwire", str(odd))

    assert unknown.status == 1
    assert "--from says what it is" in unknown.err
    assert unknown.err.count("odd.json") == 1
    assert named.err == "imported 0 conversations\n"
    assert code.err.endswith("imported 2 conversations\n")
    assert wrong.status == 1


def test_what_cannot_be_read_is_told_and_the_status_says_so(blockwire: Run, tmp_path: Path) -> None:
    data = (FOLDER / "claude-2026-01.json").read_bytes()
    broken = saved(tmp_path, b"[7," + data[1:], "c.json")

    ended = blockwire("import", str(broken))

    assert ended.status == 1
    assert "unreadable: items without messages: 1 (first at /0)" in ended.err
    assert "imported 2 conversations" in ended.err


def test_an_archive_comes_through_a_pipe(
    blockwire: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with saved(tmp_path).open("rb") as pipe:
        monkeypatch.setattr(sys, "stdin", pipe)
        ended = blockwire("import", "-")

    assert ended.err == "imported 2 conversations\n"


# files -------------------------------------------------------------------------------------
@pytest.mark.parametrize("error", [KeyboardInterrupt, LocalProtocolError("x_y", "z")])
def test_a_file_that_is_not_finished_is_not_there(tmp_path: Path, error: Any) -> None:
    with pytest.raises(KeyboardInterrupt if error is KeyboardInterrupt else LocalProtocolError):
        write_and_raise(tmp_path / "x.md", error)

    assert list(tmp_path.iterdir()) == []


def write_and_raise(path: Path, error: Any) -> None:
    with new_file(path, force=False) as put:
        put(b"half")
        assert len(leftovers(path.parent)) == 1
        raise error


def test_a_file_that_somebody_made_meanwhile_stays(tmp_path: Path) -> None:
    def write() -> None:
        with new_file(tmp_path / "x.md", force=False) as put:
            put(b"ours")
            (tmp_path / "x.md").write_bytes(b"theirs")

    with pytest.raises(LocalProtocolError, match="file_exists"):
        write()
    assert (tmp_path / "x.md").read_bytes() == b"theirs"


def test_a_disk_without_links_does_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise OSError(1, "no links here")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    with new_file(tmp_path / "x.md", force=False) as put:
        put(b"ours")
    assert (tmp_path / "x.md").read_bytes() == b"ours"

    def write() -> None:
        with new_file(tmp_path / "y.md", force=False) as put:
            put(b"ours")
            (tmp_path / "y.md").write_bytes(b"theirs")

    with pytest.raises(LocalProtocolError, match="file_exists"):
        write()


def test_a_full_disk_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_number: int) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "fsync", full)

    def write() -> None:
        with new_file(tmp_path / "x.md", force=False) as put:
            put(b"ours")

    with pytest.raises(LocalProtocolError, match="No space left"):
        write()
    assert list(tmp_path.iterdir()) == []


# Ctrl-C -----------------------------------------------------------------------------------
def many(count: int) -> bytes:
    """Return an archive with a long conversation, which takes a while to be written as a page."""
    writer = ArchiveWriter()
    lines = [writer.start(created_at=1, generator="g", view="owner")]
    lines.append(writer.start_conversation({"id": "conv_1", "created_at": 1, "tags": []}))
    text = "A *line* of some `length`, with [a link](https://example.org).\n\n" * 40
    for number in range(count):
        block: dict[str, Json] = {"id": "b1", "type": "prose", "markdown": text}
        lines.append(
            writer.add_message(
                {
                    "id": f"msg_{number}",
                    "role": "user",
                    "status": "completed",
                    "content": [block],
                    "created_at": number,
                }
            )
        )
    return b"".join([*lines, writer.end_conversation(), writer.end()])


# However quick the machine is, an export is still at work when the signal comes.
ENDLESS_EXPORT = """
import anyio
from blockwire.client import AsyncClient

asked = AsyncClient.export

async def export(self, *arguments, **more):
    async for piece in asked(self, *arguments, **more):
        yield piece
        await anyio.sleep_forever()

AsyncClient.export = export
"""


def test_ctrl_c_leaves_neither_file_nor_conversation(tmp_path: Path) -> None:
    big = saved(tmp_path, many(100))
    env = environment(tmp_path)
    done = subprocess.run(
        command("import", "--json", str(big)),
        cwd=tmp_path,
        env=env,
        capture_output=True,
        check=True,
    )
    name = str(decoded(done.stdout)["id"])

    exporting = subprocess.Popen(
        command_after(ENDLESS_EXPORT, "export", name, "-o", "page.html"),
        cwd=tmp_path,
        env=env,
        stderr=subprocess.PIPE,
    )
    with exporting:
        while not leftovers(tmp_path):
            assert exporting.poll() is None
        exporting.send_signal(signal.SIGINT)
        said = exporting.communicate()[1]

    assert exporting.returncode == 130
    assert said.strip() == b""
    assert leftovers(tmp_path) == []
    assert not (tmp_path / "page.html").exists()

    importing = subprocess.Popen(
        command("import", "--copy", "-"),
        cwd=tmp_path,
        env=env,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    with importing:
        assert importing.stdin is not None
        # What is read of a pipe is on its way; the rest never comes.
        importing.stdin.write(big.read_bytes()[:-1_000])
        importing.stdin.flush()
        importing.send_signal(signal.SIGINT)
        told = importing.communicate()[1]
    listed = subprocess.run(
        command("list", "--json"), cwd=tmp_path, env=env, capture_output=True, check=True
    )

    assert importing.returncode == 130
    assert told.strip() == b""
    assert len(listed.stdout.splitlines()) == 1


@pytest.mark.slow
@pytest.mark.case("P07")
@pytest.mark.requirement("gateway:import:all-or-nothing")
def test_a_killed_gateway_keeps_nothing_of_half_an_import(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'store.db'}"
    half = many(3_000)[:20_000_000]
    head = (
        "POST /v1/import HTTP/1.1\r\nHost: 127.0.0.1\r\ncontent-type: application/x-ndjson\r\n"
        f"content-length: {len(half) * 2}\r\n\r\n"
    )
    with Gateway(environment(tmp_path), "--store", store, "--engine", "external") as gateway:
        whole = call(gateway.url, "/v1/conversations", method="POST", body={"title": "mine"})
        with socket.create_connection(("127.0.0.1", gateway.port)) as peer:
            peer.sendall(head.encode() + half)
            # Whatever the gateway has read of it by now is in its store.
            assert call(gateway.url, "/v1/conversations")["items"] == [whole]
            gateway.kill()
        gateway.restart()
        listed = call(gateway.url, "/v1/conversations")["items"]
        assert gateway.stop() == 0
    check = subprocess.run(
        command("check", "--store", store),
        cwd=tmp_path,
        env=environment(tmp_path),
        capture_output=True,
        check=False,
    )

    assert [one["id"] for one in listed] == [whole["id"]]
    assert check.returncode == 0, check.stdout


# A quick machine is done before anything would be shown.
NEVER_QUIET = "from blockwire.cli import progress; progress.QUIET_S = 0.0"


def test_on_a_terminal_it_says_how_far_it_is(tmp_path: Path) -> None:
    big = saved(tmp_path, many(10))
    importing = command_after(NEVER_QUIET, "import", "--json", str(big))
    # Both streams are the terminal's.
    arguments = ["sh", "-c", 'exec "$@" 2>&1', "sh", *importing]
    with Terminal(arguments, env=environment(tmp_path), cwd=tmp_path, columns=200) as terminal:
        status = terminal.read_to_end()

        assert status == 0, terminal.output
        assert b" %  " in terminal.output
        assert b"checking" in terminal.output
        assert b"sending" in terminal.output
        shown = [line for line in terminal.screen.lines() if line]
        assert len(shown) == 1, shown
        assert shown[0].startswith('{"id":"conv_')


def test_on_a_terminal_nothing_in_a_document_can_act(tmp_path: Path) -> None:
    hostile = WHOLE_OF_ONE.replace(b"Three weighings", b"\\u001b]0;owned\\u0007\\u009b31m")
    source = saved(tmp_path, rewritten(hostile))
    env = environment(tmp_path)
    done = subprocess.run(
        command("import", "--json", str(source)), cwd=tmp_path, env=env, capture_output=True,
        check=True,
    )  # fmt: skip
    name = str(decoded(done.stdout)["id"])
    for export_format in ("markdown", "html", "text", "json", "jsonl"):
        arguments = command("export", name, "--format", export_format, "--reasoning")
        with Terminal(arguments, env=env, cwd=tmp_path) as terminal:
            assert terminal.read_to_end() == 0
            assert b"owned" in terminal.output
            assert b"\x1b" not in terminal.output
            assert b"\x07" not in terminal.output
            assert b"\xc2\x9b" not in terminal.output


WHOLE_OF_ONE = b"".join(archive_lines(1))


def rewritten(data: bytes) -> bytes:
    """Return an archive whose lines were changed, with digests that are right again."""
    writer = ArchiveWriter()
    lines: list[bytes] = []
    for line in data.splitlines():
        value = decoded(line)
        match value["type"]:
            case "archive.started":
                lines.append(writer.start(created_at=1, generator="g", view="owner"))
            case "conversation.started":
                lines.append(writer.start_conversation(value["conversation"]))
            case "message":
                lines.append(writer.add_message(value["message"]))
            case _:
                pass
    return b"".join([*lines, writer.end_conversation(), writer.end()])
