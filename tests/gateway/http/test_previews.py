"""Previews of images: what is drawn, what is refused, and what hostile files are bounded by."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import AsyncGenerator, Callable
from pathlib import Path
from typing import Any, Final

import anyio
import pytest
from PIL import Image

from blockwire.content.filetypes import sniff_type
from blockwire.errors import RemoteProtocolError
from blockwire.gateway.access.auth import Auth
from blockwire.gateway.previews import child, previewer
from blockwire.gateway.previews.previewer import Previewer
from blockwire.ports import AttachmentRow
from tests.gateway.http.pictures import encoded, opened, png_of_size, two_halves
from tests.gateway.http.surface import Surface, body, json_of, surface
from tests.gateway.http.test_attachments import TOKENS, bearer, named, uploaded

pytestmark = pytest.mark.anyio

RED, BLUE = (255, 0, 0), (0, 0, 255)
PNG: Final = encoded(two_halves(200, 100), "PNG")


def preview(data: bytes, size_px: int = 64) -> Image.Image:
    """Return the preview as it is made, in this process."""
    return opened(child.make_preview(data, sniff_type(data), size_px))


def is_near(pixel: Any, colour: tuple[int, ...], by: int = 40) -> bool:
    return all(abs(a - b) <= by for a, b in zip(pixel, colour, strict=True))


def row_of(data: bytes, media_type: str | None = None) -> AttachmentRow:
    return AttachmentRow(
        id="att_1",
        name="x",
        media_type=media_type or sniff_type(data),
        size_bytes=len(data),
        sha256=f"{hash(data):064x}"[-64:],
        created_at=1,
    )


def pieces_of(data: bytes) -> Callable[[], AsyncGenerator[bytes, None]]:
    async def pieces() -> AsyncGenerator[bytes, None]:
        for start in range(0, len(data), 65_536):
            yield data[start : start + 65_536]

    return pieces


# what is drawn ----------------------------------------------------------------------------
@pytest.mark.requirement("attachments:preview:drawn")
@pytest.mark.parametrize(
    "data",
    [
        PNG,
        encoded(two_halves(200, 100), "JPEG", quality=95),
        encoded(two_halves(200, 100), "WEBP", lossless=True),
        encoded(two_halves(200, 100).convert("P"), "GIF"),
        encoded(two_halves(200, 100).convert("CMYK"), "JPEG", quality=95),
        encoded(two_halves(200, 100).convert("P"), "PNG"),
    ],
    ids=["png", "jpeg", "webp", "gif", "cmyk", "palette"],
)
def test_a_picture_keeps_its_colours_and_its_shape(data: bytes) -> None:
    made = preview(data)

    assert (made.format, made.mode, made.size) == ("WEBP", "RGB", (64, 32))
    assert is_near(made.getpixel((5, 16)), RED)
    assert is_near(made.getpixel((58, 16)), BLUE)


@pytest.mark.requirement("attachments:preview:drawn")
def test_sixteen_bits_of_grey_are_scaled_and_not_cut() -> None:
    image = Image.new("I;16", (10, 10), 32_768)
    data = encoded(image, "PNG")

    assert opened(data).mode.startswith("I")
    assert is_near(preview(data).getpixel((5, 5)), (128, 128, 128), by=4)


@pytest.mark.requirement("attachments:preview:drawn")
@pytest.mark.parametrize(
    "data",
    [
        encoded(two_halves(80, 40, "RGBA", (255, 0, 0, 0), (0, 0, 255, 255)), "PNG"),
        encoded(two_halves(80, 40, "LA", (255, 0), (0, 255)), "PNG"),
        encoded(two_halves(80, 40, "P", 0, 1), "PNG", transparency=0),
        encoded(two_halves(80, 40, "P", 0, 1), "GIF", transparency=0),
    ],
    ids=["rgba", "la", "palette", "gif"],
)
def test_what_is_transparent_stays_so(data: bytes) -> None:
    made = preview(data)

    assert made.mode == "RGBA"
    left, right = made.getpixel((4, 16)), made.getpixel((58, 16))
    assert isinstance(left, tuple)
    assert isinstance(right, tuple)
    assert (left[3], right[3]) == (0, 255)


@pytest.mark.requirement("attachments:preview:drawn")
def test_of_an_animation_the_first_picture_is_shown() -> None:
    frames = [Image.new("RGB", (70, 70), colour) for colour in ("red", "blue", "blue")]
    for kind in ("GIF", "PNG", "WEBP"):
        data = encoded(frames[0], kind, save_all=True, append_images=frames[1:], duration=10)

        made = preview(data)

        assert not getattr(made, "is_animated", False)
        assert is_near(made.convert("RGB").getpixel((30, 30)), RED)


@pytest.mark.requirement("attachments:preview:drawn")
@pytest.mark.parametrize("size", [(1, 1), (1, 3_000), (30, 20)])
def test_nothing_is_made_larger_and_nothing_vanishes(size: tuple[int, int]) -> None:
    made = preview(encoded(Image.new("RGB", size, "red"), "PNG"))

    assert made.size == (size if max(size) <= 64 else (1, 64))


@pytest.mark.requirement("attachments:preview:bare")
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
def test_what_was_said_beside_the_pixels_is_gone(kind: str) -> None:
    exif = Image.Exif()
    exif[0x010E] = "a secret place"
    more: dict[str, Any] = {"exif": exif, "icc_profile": b"a secret profile"}
    if kind != "PNG":
        more["xmp"] = b"a secret packet"
    data = encoded(two_halves(100, 50), kind, **more)
    assert b"secret" in data

    made = child.make_preview(data, sniff_type(data), 64)

    assert b"secret" not in made
    for chunk in (b"EXIF", b"ICCP", b"XMP "):
        assert chunk not in made


# red is on the left: where it is when the picture is the right way up
@pytest.mark.requirement("attachments:preview:bare")
@pytest.mark.parametrize(
    ("orientation", "size", "red_at"),
    [
        (1, (64, 32), (4, 16)),
        (2, (64, 32), (60, 16)),
        (3, (64, 32), (60, 16)),
        (4, (64, 32), (4, 16)),
        (5, (32, 64), (16, 4)),
        (6, (32, 64), (16, 4)),
        (7, (32, 64), (16, 60)),
        (8, (32, 64), (16, 60)),
        (9, (64, 32), (4, 16)),
    ],
)
def test_a_picture_stands_the_right_way_up(
    orientation: int, size: tuple[int, int], red_at: tuple[int, int]
) -> None:
    exif = Image.Exif()
    exif[0x0112] = orientation
    data = encoded(two_halves(400, 200), "JPEG", exif=exif, quality=95)

    made = preview(data)

    assert made.size == size
    assert is_near(made.getpixel(red_at), RED)


# what is refused --------------------------------------------------------------------------
@pytest.mark.requirement("attachments:preview:refused")
@pytest.mark.parametrize(
    "data",
    [
        PNG[: len(PNG) // 2],
        PNG[:33],
        b"\x89PNG\r\n\x1a\n" + bytes(200),
        b"\xff\xd8\xff" + b"\xff" * 1_000,
        b"GIF89a" + bytes(100),
        b"RIFF\x00\x00\x00\x00WEBP" + bytes(100),
        # The first bytes of one format, and all of another one behind them.
        b"GIF89a" + PNG,
        b"\xff\xd8\xff\xe0" + encoded(two_halves(9, 9), "GIF"),
    ],
    ids=["half", "head", "png", "jpeg", "gif", "webp", "gif-png", "jpeg-gif"],
)
def test_what_is_no_whole_image_has_no_preview(data: bytes) -> None:
    with pytest.raises(child.NoPreviewError) as refused:
        child.make_preview(data, sniff_type(data), 64)

    assert refused.value.status == child.ENDED_UNREADABLE


@pytest.mark.requirement("attachments:preview:bounds")
def test_what_has_too_many_pixels_is_refused_by_its_head() -> None:
    bomb = png_of_size(60_000, 60_000, rows=100)

    with pytest.raises(child.NoPreviewError) as refused:
        child.make_preview(bomb, "image/png", 64)

    assert refused.value.status == child.ENDED_LARGE


def test_without_the_library_there_is_no_preview(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "PIL", None)

    with pytest.raises(child.NoPreviewError) as refused:
        child.make_preview(PNG, "image/png", 64)

    assert refused.value.status == child.ENDED_MISSING


# the process ------------------------------------------------------------------------------
@pytest.mark.requirement("attachments:preview:bounds")
@pytest.mark.parametrize(
    ("data", "code"),
    [
        (png_of_size(7_000, 7_000), None),
        (png_of_size(60_000, 60_000, rows=2_000), "image_too_large"),
        (PNG[:60], "not_previewable"),
        (b"GIF89a" + PNG, "not_previewable"),
    ],
    ids=["49-megapixels", "bomb", "cut", "polyglot"],
)
async def test_a_child_makes_it_or_says_why_not(data: bytes, code: str | None) -> None:
    maker = Previewer()
    with anyio.fail_after(50):
        if code is None:
            made = await maker.preview(row_of(data), 64, pieces_of(data))
            assert opened(made).size == (64, 64)
            return
        with pytest.raises(RemoteProtocolError) as refused:
            await maker.preview(row_of(data), 64, pieces_of(data))

    assert refused.value.code == code


def program(text: str) -> tuple[str, ...]:
    return (sys.executable, "-c", text)


@pytest.mark.requirement("attachments:preview:bounds")
@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("import os, signal; os.kill(os.getpid(), signal.SIGKILL)", "not_previewable"),
        ("import sys; sys.exit(1)", "not_previewable"),
        ("", "not_previewable"),
        (f"import sys; sys.exit({child.ENDED_LARGE})", "image_too_large"),
        (f"import sys; sys.exit({child.ENDED_MISSING})", "preview_unavailable"),
        ("import sys; sys.stdout.write('x' * 9_000_000)", "not_previewable"),
    ],
    ids=["killed", "failed", "silent", "large", "missing", "talkative"],
)
async def test_however_a_child_ends_there_is_an_answer(text: str, code: str) -> None:
    # More than a pipe holds, for whoever does not read it; who only talks must not wait for it.
    data = bytes(100 if "stdout" in text else 9_000_000)
    maker = Previewer(program=program(text))

    with anyio.fail_after(50), pytest.raises(RemoteProtocolError) as refused:
        await maker.preview(row_of(data, "image/png"), 64, pieces_of(data))

    assert refused.value.code == code


def sleeper(place: Path) -> Previewer:
    """Return one whose child writes its process id to ``place`` and then only waits."""
    text = (
        f"import os, time; f = open({str(place / 'new')!r}, 'w', encoding='ascii');"
        f"f.write(str(os.getpid())); f.close(); os.rename(f.name, {str(place / 'pid')!r});"
        "time.sleep(600)"
    )
    return Previewer(program=program(text))


async def pid_in(place: Path) -> int:
    with anyio.fail_after(15):
        while not (place / "pid").exists():
            await anyio.lowlevel.checkpoint()
    return int((place / "pid").read_text(encoding="ascii"))


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


@pytest.mark.requirement("attachments:preview:ended")
async def test_a_child_ends_with_whoever_waits_for_it(tmp_path: Path) -> None:
    async with anyio.create_task_group() as group:
        group.start_soon(sleeper(tmp_path).preview, row_of(PNG), 64, pieces_of(PNG))
        pid = await pid_in(tmp_path)
        # It is of another group than we are: a Ctrl-C in our terminal is not for it.
        assert os.getpgid(pid) != os.getpgid(0)
        group.cancel_scope.cancel()

    assert not is_alive(pid)


@pytest.mark.requirement("attachments:preview:ended")
async def test_a_child_ends_also_if_nobody_waits_any_more_when_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[anyio.abc.Process] = []
    open_process = anyio.open_process

    async def slowly(*arguments: Any, **options: Any) -> anyio.abc.Process:
        opened.append(await open_process(*arguments, **options))
        group.cancel_scope.cancel()
        await anyio.lowlevel.checkpoint()
        return opened[0]

    monkeypatch.setattr(anyio, "open_process", slowly)
    async with anyio.create_task_group() as group:
        group.start_soon(sleeper(tmp_path).preview, row_of(PNG), 64, pieces_of(PNG))

    assert opened[0].returncode is not None


@pytest.mark.requirement("attachments:preview:ended")
async def test_a_stop_of_the_gateway_ends_it(tmp_path: Path) -> None:
    async with surface(previewer=sleeper(tmp_path)) as s:
        row = await uploaded(s)
        answers = []

        async def ask() -> None:
            answers.append(await s.client.get(f"/v1/attachments/{row['id']}/preview"))

        async with anyio.create_task_group() as group:
            group.start_soon(ask)
            pid = await pid_in(tmp_path)
            s.app.stop()

        assert json_of(answers[0])["error"]["code"] == "gateway_stopping"
        assert not is_alive(pid)


@pytest.mark.requirement("attachments:preview:bounds")
async def test_a_child_that_takes_too_long_is_given_up_and_may_be_tried_again() -> None:
    slow = Previewer(program=program("import time; time.sleep(600)"), wait_s_max=0.05)

    with anyio.fail_after(15), pytest.raises(RemoteProtocolError) as refused:
        await slow.preview(row_of(PNG), 64, pieces_of(PNG))

    assert refused.value.code == "not_previewable"
    assert slow.kept_bytes == 0


@pytest.mark.requirement("attachments:preview:bounds")
def test_the_program_bounds_itself_before_it_looks() -> None:
    code = (
        "import resource, signal, sys; from blockwire.gateway.previews import child;"
        "child.restrict();"
        "print([resource.getrlimit(k)[1] for k in (resource.RLIMIT_AS, resource.RLIMIT_CPU,"
        "resource.RLIMIT_CORE, resource.RLIMIT_FSIZE)], signal.alarm(0))"
    )

    ended = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, encoding="utf-8", check=True
    )

    assert ended.stdout.split("] ")[0] == f"[{child.MEMORY_BYTES_MAX}, {child.CPU_S_MAX}, 0, 0"
    assert 0 < int(ended.stdout.split("] ")[1]) <= child.WALL_S_MAX


@pytest.mark.requirement("attachments:preview:bounds")
async def test_a_child_knows_nothing_of_what_the_gateway_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    tells = "import os, sys; sys.stdout.write(' '.join(sorted(os.environ)))"

    told = await Previewer(program=program(tells)).preview(row_of(PNG), 64, pieces_of(PNG))

    assert b"OPENAI" not in told
    assert b"PATH" in told


# kept and bounded -------------------------------------------------------------------------
@pytest.mark.requirement("attachments:preview:kept")
async def test_what_was_made_or_refused_is_not_tried_again(tmp_path: Path) -> None:
    count = tmp_path / "count"
    text = f"import sys; open({str(count)!r}, 'a').write('x'); "
    maker = Previewer(program=program(text + "print('picture')"))
    for _ in range(3):
        assert await maker.preview(row_of(PNG), 64, pieces_of(PNG)) == b"picture\n"
    refusing = Previewer(program=program(text + f"sys.exit({child.ENDED_LARGE})"))
    for _ in range(3):
        with pytest.raises(RemoteProtocolError, match="pixels at most"):
            await refusing.preview(row_of(PNG), 64, pieces_of(PNG))

    assert count.read_text(encoding="ascii") == "xx"


@pytest.mark.requirement("attachments:preview:kept")
async def test_what_is_kept_has_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(previewer, "CACHE_BYTES_MAX", 2_000)
    maker = Previewer(program=program("print('x' * 300)"))
    for number in range(6):
        data = PNG + bytes([number])
        await maker.preview(row_of(data, "image/png"), 64, pieces_of(data))

        assert 0 < maker.kept_bytes <= 2_000


def started_in(place: Path) -> int:
    return sum(1 for _ in place.iterdir())


@pytest.mark.requirement("attachments:preview:many")
async def test_a_few_are_made_at_once_and_some_may_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(previewer, "WAITING_MAX", 4)
    text = (
        f"import os, time; open(os.path.join({str(tmp_path)!r}, str(os.getpid())), 'w');"
        "time.sleep(600)"
    )
    maker = Previewer(program=program(text))
    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(maker.preview, row_of(PNG), 64, pieces_of(PNG))
        with anyio.fail_after(15):
            while started_in(tmp_path) < previewer.CHILDREN_MAX:
                await anyio.lowlevel.checkpoint()
        with pytest.raises(RemoteProtocolError) as refused:
            await maker.preview(row_of(PNG), 64, pieces_of(PNG))
        started = started_in(tmp_path)
        group.cancel_scope.cancel()

    assert refused.value.code == "too_many_previews"
    assert started == previewer.CHILDREN_MAX


# the route --------------------------------------------------------------------------------
async def got(s: Surface, row: dict[str, Any], query: str = "", **headers: str) -> Any:
    return await s.client.get(f"/v1/attachments/{row['id']}/preview{query}", headers=headers)


async def post(s: Surface, url: str, value: Any) -> Any:
    asked = body(value)
    return await s.client.post(url, **{**asked, "headers": asked["headers"] | bearer("owner")})


@pytest.mark.requirement("attachments:preview:answer")
async def test_a_preview_is_smaller_and_may_be_revalidated() -> None:
    image = encoded(two_halves(2_000, 1_000), "PNG")
    async with surface() as s:
        row = await uploaded(s, image)
        usual = await got(s, row)
        small = await got(s, row, "?size=64")
        again = await got(s, row, "?size=64", **{"if-none-match": small.headers["etag"]})
        head = await s.client.head(f"/v1/attachments/{row['id']}/preview?size=64")

        assert (opened(usual.content).size, opened(small.content).size) == ((640, 320), (64, 32))
        assert (usual.status_code, usual.headers["content-type"]) == (200, "image/webp")
        assert usual.headers.get_list("cache-control") == ["private, no-cache"]
        assert usual.headers["content-security-policy"] == "sandbox; default-src 'none'"
        assert usual.headers["cross-origin-resource-policy"] == "same-origin"
        assert usual.headers["x-content-type-options"] == "nosniff"
        assert (again.status_code, again.content) == (304, b"")
        assert (head.status_code, head.content) == (200, b"")


@pytest.mark.requirement("attachments:preview:refused")
@pytest.mark.parametrize(
    ("content", "query", "status", "code"),
    [
        (b"text", "", 422, "not_previewable"),
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "", 422, "not_previewable"),
        (PNG[:70], "", 422, "not_previewable"),
        (png_of_size(60_000, 60_000, rows=9), "", 422, "image_too_large"),
        (PNG, "?size=63", 400, "invalid_parameter"),
        (PNG, "?size=1025", 400, "invalid_parameter"),
        (PNG, "?size=9x", 400, "invalid_parameter"),
    ],
)
async def test_what_cannot_be_shown_is_refused_with_its_code(
    content: bytes, query: str, status: int, code: str
) -> None:
    async with surface() as s:
        answer = await got(s, await uploaded(s, content), query)

        assert (answer.status_code, json_of(answer)["error"]["code"]) == (status, code)


async def test_what_is_too_large_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(child, "INPUT_BYTES_MAX", 10)
    async with surface() as s:
        answer = await got(s, await uploaded(s, PNG))

        assert json_of(answer)["error"]["code"] == "image_too_large"


@pytest.mark.requirement("attachments:preview:without")
async def test_without_the_extra_there_are_none_and_the_capabilities_say_so() -> None:
    async with surface(previewer=Previewer(is_available=False)) as s:
        answer = await got(s, await uploaded(s, PNG))
        without = json_of(await s.client.get("/v1/capabilities"))
    async with surface() as s:
        with_it = json_of(await s.client.get("/v1/capabilities"))

    assert (answer.status_code, json_of(answer)["error"]["code"]) == (501, "preview_unavailable")
    assert "blockwire[previews]" in json_of(answer)["error"]["message"]
    assert (without["previews"], with_it["previews"]) == (False, True)


@pytest.mark.requirement("attachments:preview:view")
async def test_who_may_not_have_the_image_gets_no_preview() -> None:
    async with surface(auth=Auth(TOKENS)) as s:
        made = await s.client.post("/v1/conversations", headers=bearer("owner"))
        conversation_id = json_of(made)["id"]
        shown, hidden = [
            await uploaded(
                s, PNG + bytes([n]), conversation_id=conversation_id, headers=bearer("owner")
            )
            for n in range(2)
        ]
        url = f"/v1/conversations/{conversation_id}"
        await post(s, f"{url}/messages", {"role": "user", "content": [named(shown)]})
        shared = await post(s, f"{url}/shares", {})
        link = {"authorization": f"Bearer {json_of(shared)['secret']}"}
        statuses = {
            (name, which): (await got(s, row, **headers)).status_code
            for name, headers in (
                ("owner", bearer("owner")),
                ("guest", bearer("guest")),
                ("other", bearer("other")),
                ("link", link),
            )
            for which, row in (("shown", shown), ("hidden", hidden))
        }

        assert statuses == {
            ("owner", "shown"): 200,
            ("owner", "hidden"): 200,
            ("guest", "shown"): 200,
            ("guest", "hidden"): 404,
            ("other", "shown"): 404,
            ("other", "hidden"): 404,
            ("link", "shown"): 200,
            ("link", "hidden"): 404,
        }
