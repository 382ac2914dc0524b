"""Files of a question: how they come into the draft, to the gateway, and back out of a message."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Final

import anyio
import pytest
from playwright.async_api import Browser, FilePayload, Route

from tests.page.people import Person, expect_soon
from tests.page.worlds import Turn, World, opened_world
from tests.support.programs import WAIT_S

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(180)]

PICTURE: Final = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
)
DRAWING: Final = b'<svg xmlns="http://www.w3.org/2000/svg"/>'
UPLOADS: Final = "**/attachments?*"

# A file as a browser hands it over, by paste into the input or by drop on the page.
HAND_OVER: Final = """([way, name, type, data]) => {
  const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
  const transfer = new DataTransfer();
  transfer.items.add(new File([bytes], name, {type}));
  const more = {bubbles: true, cancelable: true};
  if (way === "paste") {
    const area = document.querySelector("[data-testid=composer-input]");
    area.dispatchEvent(new ClipboardEvent("paste", {clipboardData: transfer, ...more}));
  } else {
    for (const kind of ["dragenter", "dragover", "drop"])
      document.body.dispatchEvent(new DragEvent(kind, {dataTransfer: transfer, ...more}));
  }
}"""


def file(name: str, media_type: str, data: bytes) -> FilePayload:
    """Return a file for the picker."""
    return {"name": name, "mimeType": media_type, "buffer": data}


async def pick(person: Person, *files: FilePayload) -> None:
    """Choose files in the dialog of the browser."""
    async with person.page.expect_file_chooser() as chooser:
        await person.button("Attach files").click()
    await (await chooser.value).set_files(list(files))


async def hand_over(person: Person, way: str, name: str, media_type: str, data: bytes) -> None:
    """Paste or drop a file."""
    await expect_soon(person.composer).to_be_visible()
    text = base64.b64encode(data).decode()
    await person.page.evaluate(HAND_OVER, [way, name, media_type, text])


async def are_there(person: Person, *names: str) -> None:
    """Wait until the draft has these files and each is uploaded."""
    await expect_soon(person.files).to_contain_text(list(names))
    await expect_soon(person.files.get_by_role("progressbar")).to_have_count(0)
    await expect_soon(person.page.locator('[data-stage="done"]')).to_have_count(len(names))


async def end(person: Person, turn: Turn) -> None:
    """Answer."""
    await turn.prose("Seen.")
    await turn.complete()
    await turn.end()
    await person.sees("Seen.")
    await person.sees_end()


@pytest.mark.requirement(
    "page:attachments:ways",
    "page:attachments:draft-preview",
    "page:attachments:dialog",
    "page:attachments:download",
)
async def test_files_come_by_paste_drop_and_picker_and_out_again(world: World) -> None:
    person = Person(await world.page())
    page = person.page
    await hand_over(person, "paste", "", "image/png", PICTURE)
    await are_there(person, "picture.png")
    await hand_over(person, "drop", "drawing.svg", "image/svg+xml", DRAWING)
    await pick(person, file("notes.txt", "text/plain", b"hello"))
    await are_there(person, "picture.png", "drawing.svg", "notes.txt")
    # A drawing can hold a program, so it is no picture here.
    sources = [await one.get_attribute("src") for one in await person.files.locator("img").all()]
    assert [str(source).partition(":")[0] for source in sources] == ["blob"]

    await person.ask("What is this?")
    turn = await world.agent.turn()
    content = turn.request["messages"][-1]["content"]
    assert [block.get("name", block["type"]) for block in content] == [
        "prose", "picture.png", "drawing.svg", "notes.txt",
    ]  # fmt: skip
    assert {block["type"] for block in content[1:]} == {"attachment"}
    await end(person, turn)
    await expect_soon(person.files).to_have_count(0)

    await person.messages("user").get_by_role("button", name="Open the picture").click()
    dialog = page.get_by_role("dialog")
    picture = dialog.get_by_role("img")
    await expect_soon(picture).to_be_visible()
    assert str(await picture.get_attribute("src")).startswith("blob:")
    await page.keyboard.press("Escape")
    await expect_soon(dialog).to_have_count(0)

    for name, data in (("notes.txt", b"hello"), ("drawing.svg", DRAWING)):
        async with page.expect_download() as download:
            await person.messages("user").get_by_role("link", name=f"Download {name}").click()
        saved = await download.value
        assert saved.suggested_filename == name
        assert await anyio.Path(await saved.path()).read_bytes() == data


@pytest.mark.requirement("page:composer:discarded")
async def test_a_draft_that_is_thrown_away_leaves_nothing(world: World) -> None:
    person = Person(await world.page())
    await pick(person, file("one.txt", "text/plain", b"1"), file("two.txt", "text/plain", b"2"))
    await are_there(person, "one.txt", "two.txt")
    assert len(world.call("/v1/conversations")["items"]) == 1

    await person.button("Remove one.txt").click()
    async with person.page.expect_response(lambda answer: answer.request.method == "DELETE"):
        await person.button("Remove two.txt").click()
    assert world.call("/v1/conversations")["items"] == []
    assert "/c/" not in person.page.url


@pytest.mark.requirement(
    "page:attachments:waited", "page:attachments:again", "page:attachments:progress",
    "page:attachments:lost",
)  # fmt: skip
async def test_send_waits_for_a_file_that_breaks_on_its_way(world: World) -> None:
    person = Person(await world.page())
    may_go, came = anyio.Event(), anyio.Event()
    count = 0

    async def hold(route: Route) -> None:
        nonlocal count
        count += 1
        if count == 1:
            await route.abort("connectionreset")
        else:
            came.set()
            await may_go.wait()
            await route.continue_()

    await person.page.route(UPLOADS, hold)
    await pick(person, file("slow.txt", "text/plain", b"slow"))
    with anyio.fail_after(WAIT_S):
        await came.wait()
    await expect_soon(person.page.get_by_role("progressbar", name="slow.txt")).to_be_visible()
    await person.ask("Wait for it")
    await expect_soon(person.page.get_by_text("It is sent when the file is there.")).to_be_visible()
    # Who types on does not want it to leave by itself.
    await person.composer.press_sequentially("!")
    await expect_soon(person.page.get_by_text("It is sent when the file is there.")).to_have_count(
        0
    )
    await person.page.get_by_test_id("send").click()
    may_go.set()

    turn = await world.agent.turn()
    content = turn.request["messages"][-1]["content"]
    assert [block.get("name", block.get("markdown")) for block in content] == [
        "Wait for it!", "slow.txt",
    ]  # fmt: skip
    await end(person, turn)
    await person.page.unroute(UPLOADS)

    await person.page.route(UPLOADS, lambda route: route.abort("connectionreset"))
    await pick(person, file("lost.txt", "text/plain", b"lost"))
    await expect_soon(person.files).to_contain_text(["lost.txt"])
    await person.page.reload()
    await expect_soon(person.page.get_by_role("alert").first).to_contain_text("attach it again")
    await expect_soon(person.files).to_have_count(0)


@pytest.mark.requirement("page:attachments:too-large")
async def test_a_file_that_is_too_large_is_refused_before_it_is_sent(
    browser: Browser, tmp_path: Path
) -> None:
    async with opened_world(browser, tmp_path, settings="attachment_mib = 1\n") as world:
        person = Person(await world.page())
        await pick(
            person,
            file("large.bin", "application/octet-stream", b"x" * 1_048_577),
            file("small.txt", "text/plain", b"small"),
        )
        await expect_soon(person.files.first).to_contain_text("The file is too large.")
        await expect_soon(person.page.locator('[data-stage="done"]')).to_have_count(1)
        assert [url for url in world.requests if "large.bin" in url] == []

        await person.ask("Without?")
        await expect_soon(person.page.get_by_role("alert").first).to_contain_text(
            "A file was not uploaded."
        )
        await person.button("Send without").click()
        turn = await world.agent.turn()
        content = turn.request["messages"][-1]["content"]
        assert [block.get("name") for block in content[1:]] == ["small.txt"]
        await end(person, turn)
        assert world.troubles == []
