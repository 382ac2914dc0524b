"""Attachments on their way to engines: files for programs, pictures for models."""

import os
import stat
import sys
import tempfile
import textwrap
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import anyio
import pytest

from blockwire.engines import CommandEngine, CommandSettings, child_environment
from blockwire.engines import files as files_module
from blockwire.engines.files import RunFolder
from blockwire.engines.images import IMAGE_BYTES_MAX, IMAGES_MAX, load_images
from tests.engines.attached import PNG, Files, attachment
from tests.engines.tools import CountingIds, collect, request, text_of, user
from tests.stores.support import assert_killed, run_script

pytestmark = pytest.mark.anyio


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where files are made."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    return tmp_path


def asked(*blocks: dict[str, Any], files: Files | None = None, **message: Any) -> Any:
    return request(messages=[{**user("x"), "content": [*blocks], **message}], files=files)


def all_below(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*"))


def files_below(folder: Path) -> list[Path]:
    return [path for path in all_below(folder) if path.is_file()]


def contents_of(paths: Iterable[Any]) -> set[bytes]:
    return {Path(path).read_bytes() for path in paths}


async def run_shell(script: str, given: Any) -> str:
    settings = CommandSettings(
        command=("/bin/sh", "-c", script), env=child_environment(os.environ, env={})
    )
    engine = CommandEngine(settings, ids=CountingIds(), redact=str)
    try:
        return text_of(await collect(engine.run(given)))
    finally:
        await engine.aclose()


@pytest.mark.requirement("engines:files:path")
async def test_a_program_reads_the_file_that_its_request_names(folder: Path) -> None:
    script = """
        import json, os, stat, sys
        block = json.load(sys.stdin)["messages"][0]["content"][0]
        data = open(block["path"], "rb").read()
        mode = stat.S_IMODE(os.stat(block["path"]).st_mode)
        print(len(data), oct(mode), os.path.basename(block["path"]), block["attachment_id"])
    """
    code = textwrap.dedent(script).replace("'", "'\\''")

    said = await run_shell(
        f"{sys.executable} -c '{code}'", asked(attachment(), files=Files({"att_a": PNG}))
    )

    assert said.split() == [str(len(PNG)), "0o600", "att_a.bin", "att_a"]
    assert all_below(folder) == []


@pytest.mark.requirement("engines:files:removed")
@pytest.mark.parametrize("ends", ["well", "badly", "cancelled"])
async def test_files_are_gone_when_the_turn_is_over(folder: Path, ends: str) -> None:
    scripts = {"well": "echo ok", "badly": "exit 3", "cancelled": "echo ok; sleep 600"}
    settings = CommandSettings(
        command=("/bin/sh", "-c", scripts[ends]),
        env=child_environment(os.environ, env={}),
        kill_grace_s=0.2,
    )
    engine = CommandEngine(settings, ids=CountingIds(), redact=str)
    given = asked(attachment(), files=Files({"att_a": PNG}))

    with anyio.move_on_after(10) as scope:
        try:
            async for _ in engine.run(given):
                assert len(files_below(folder)) == 2
                if ends == "cancelled":
                    scope.cancel()
        except Exception:  # noqa: BLE001 - how it ends is not the point
            assert ends == "badly"

    assert [path.name for path in files_below(folder)] == ["lock"]
    await engine.aclose()
    assert files_below(folder) == []


@pytest.mark.requirement("engines:files:path")
async def test_only_what_is_there_and_fits_becomes_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files_module, "FILES_BYTES_MAX", 20)
    monkeypatch.setattr(files_module, "FILES_MAX", 2)
    files = Files(
        {"att_old": b"o", "att_a": b"a" * 10, "att_large": b"l" * 11, "att_b": b"b" * 10,
         "att_broken": b"abcdef"},
        broken=frozenset({"att_broken"}),
    )  # fmt: skip
    blocks = [
        attachment(name)
        for name in ("att_old", "att_a", "att_none", "att_large", "att_broken", "att_b", "att_b")
    ]
    given = asked(*blocks, {"id": "p", "type": "prose", "markdown": "x"}, files=files)
    runs = RunFolder()

    async with runs.files(given) as named:
        content: Any = named.messages[0]["content"]
        paths = {block["attachment_id"]: block.get("path") for block in content[:-1]}
        assert {name for name, path in paths.items() if path} == {"att_a", "att_b"}
        assert contents_of(filter(None, paths.values())) == {b"a" * 10, b"b" * 10}
        assert content[-1] == {"id": "p", "type": "prose", "markdown": "x"}
    runs.close()
    runs.close()
    assert given.messages[0]["content"][0] == blocks[0]


async def test_a_turn_without_attachments_makes_no_folder(folder: Path) -> None:
    runs = RunFolder()
    for given in (asked(files=Files({})), asked(attachment())):
        async with runs.files(given) as named:
            assert named is given

    assert all_below(folder) == []


@pytest.mark.requirement("engines:files:private")
async def test_only_this_user_can_read_them(folder: Path) -> None:
    async with RunFolder().files(asked(attachment(), files=Files({"att_a": PNG}))):
        for path in all_below(folder):
            mode = stat.S_IMODE(path.stat().st_mode)
            assert mode == (0o600 if path.is_file() else 0o700)


@pytest.mark.requirement("engines:files:removed")
async def test_what_a_killed_process_left_is_removed_by_the_next(folder: Path) -> None:
    script = """
        import asyncio, os, signal, sys, tempfile
        from blockwire.engines.files import RunFolder
        from tests.engines.attached import Files, attachment
        from tests.engines.tools import request, user

        tempfile.tempdir = sys.argv[1]

        async def main():
            message = {**user("x"), "content": [attachment()]}
            given = request(messages=[message], files=Files({"att_a": b"secret"}))
            async with RunFolder().files(given):
                os.kill(os.getpid(), signal.SIGKILL)

        asyncio.run(main())
    """
    assert_killed(run_script(script, folder))
    assert len(files_below(folder)) == 2
    alive, ours = RunFolder(), RunFolder()
    given = asked(attachment(), files=Files({"att_a": PNG}))

    async with alive.files(given), ours.files(given):
        # Of the two that live, each has its lock and its file.
        assert len(files_below(folder)) == 4
        assert b"secret" not in contents_of(files_below(folder))
    alive.close()
    ours.close()
    (folder / "blockwire-files-without-a-lock").mkdir()
    assert files_below(folder) == []


@pytest.mark.requirement("engines:images:sent")
async def test_only_what_is_a_picture_and_small_enough_is_loaded() -> None:
    files = Files(
        {
            "att_good": PNG,
            "att_text": b"no picture",
            "att_large": PNG + b"x" * IMAGE_BYTES_MAX,
            "att_svg": b"<svg/>",
            "att_broken": PNG,
            "att_own": PNG,
        },
        broken=frozenset({"att_broken"}),
    )
    names = ("att_good", "att_good", "att_text", "att_large", "att_svg", "att_broken", "att_gone")
    messages = [
        {**user("x"), "content": [attachment(name) for name in names]},
        {**user("x", "msg_2"), "role": "assistant", "content": [attachment("att_own")]},
    ]

    assert list(await load_images(request(messages=messages, files=files))) == ["att_good"]
    assert files.reads == ["att_broken", "att_good"]
    assert await load_images(request(messages=messages)) == {}


@pytest.mark.requirement("engines:images:sent")
async def test_the_newest_pictures_count() -> None:
    names = [f"att_{number}" for number in range(IMAGES_MAX + 5)]
    given = asked(*map(attachment, names), files=Files(dict.fromkeys(names, PNG)))

    assert set(await load_images(given)) == set(names[-IMAGES_MAX:])


@pytest.mark.requirement("engines:images:sent")
async def test_pictures_together_have_a_bound() -> None:
    names = [f"att_{number}" for number in range(6)]
    large = PNG + bytes(IMAGE_BYTES_MAX - len(PNG))
    given = asked(*map(attachment, names), files=Files(dict.fromkeys(names, large)))

    assert set(await load_images(given)) == set(names[-4:])
