"""Files inside of messages become attachments."""

import base64
import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.content.inline import INLINE_MAX, InlineFile, extract_inline
from blockwire.errors import RemoteProtocolError
from blockwire.jsontext import encode_json

PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(64))
PNG_TEXT = base64.b64encode(PNG).decode()
PNG_URL = f"data:image/png;base64,{PNG_TEXT}"


def extracted(content: Any) -> tuple[Any, list[InlineFile]]:
    numbers = itertools.count(1)
    return extract_inline(content, lambda: f"att_{next(numbers)}")


def tool(output: Any, **members: Any) -> dict[str, Any]:
    return {
        "id": "b1", "type": "tool", "tool": "shot", "status": "completed", "output": output,
        **members,
    }  # fmt: skip


@pytest.mark.requirement("attachments:inline:block")
@pytest.mark.parametrize(
    ("members", "media_type", "data"),
    [
        ({"data": PNG_TEXT}, "image/png", PNG),
        ({"data": PNG_TEXT.rstrip("=")}, "image/png", PNG),
        ({"data": base64.urlsafe_b64encode(PNG).decode()}, "image/png", PNG),
        ({"data": base64.encodebytes(PNG).decode()}, "image/png", PNG),
        ({"data": PNG_URL}, "image/png", PNG),
        ({"url": PNG_URL}, "image/png", PNG),
        ({"url": PNG_URL.replace("=", "%3D")}, "image/png", PNG),
        ({"url": "data:text/csv,a%2Cb"}, "text/csv", b"a,b"),
        ({"url": "data:text/csv;charset=utf-8;base64,YSxi"}, "text/csv", b"a,b"),
        ({"url": "data:,hi"}, "text/plain", b"hi"),
        ({"data": "", "media_type": "image/png"}, "text/plain", b""),
        ({"data": PNG_TEXT, "media_type": "text/html"}, "image/png", PNG),
        ({"data": "YSxi", "media_type": "text/csv"}, "text/csv", b"a,b"),
    ],
)
def test_the_content_of_an_attachment_block_becomes_an_attachment(
    members: dict[str, Any], media_type: str, data: bytes
) -> None:
    block = {"id": "b1", "type": "attachment", "name": "a.png", "note": "kept", **members}

    content, files = extracted([block, {"id": "b2", "type": "prose", "markdown": "x"}])

    assert files == [
        InlineFile(attachment_id="att_1", name="a.png", media_type=media_type, data=data)
    ]
    assert content == [
        {
            "id": "b1", "type": "attachment", "name": "a.png", "note": "kept",
            "media_type": media_type, "attachment_id": "att_1",
        },
        {"id": "b2", "type": "prose", "markdown": "x"},
    ]  # fmt: skip


@pytest.mark.requirement("attachments:inline:refused")
@pytest.mark.parametrize(
    ("members", "pointer"),
    [
        ({"data": "not base64!"}, "/content/0/data"),
        ({"data": "A"}, "/content/0/data"),
        ({"url": "https://example.com/a.png"}, "/content/0/url"),
        ({"url": "data:image/png;base64,***"}, "/content/0/url"),
        ({"url": "data:image/png;base64"}, "/content/0/url"),
    ],
)
def test_what_should_be_content_and_is_none_is_refused(
    members: dict[str, Any], pointer: str
) -> None:
    with pytest.raises(RemoteProtocolError) as refused:
        extracted([{"id": "b1", "type": "attachment", "name": "a", **members}])

    assert (refused.value.code, refused.value.pointer) == ("invalid_member", pointer)


SHAPES: list[Any] = [
    {"type": "image_url", "image_url": {"url": PNG_URL}},
    {"type": "input_image", "image_url": PNG_URL},
    {"type": "input_file", "file_data": PNG_URL, "filename": "a.png"},
    {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PNG_TEXT}},
    {"type": "document", "source": {"type": "base64", "media_type": "x/y", "data": PNG_TEXT}},
    {"type": "image", "data": PNG_TEXT, "mime_type": "image/png"},
    {"type": "image", "data": PNG_TEXT, "mimeType": "image/png"},
    {"inline_data": {"mime_type": "image/png", "data": PNG_TEXT}},
    {"inlineData": {"mimeType": "image/png", "data": PNG_TEXT}},
    {"type": "resource", "resource": {"uri": "file:///a.png", "blob": PNG_TEXT}},
    {"type": "resource", "resource": {"blob": PNG_TEXT, "mime_type": "image/png"}},
    {"type": "resource", "resource": {"blob": PNG_TEXT, "mimeType": 5}},
]


@pytest.mark.requirement("attachments:inline:output")
@pytest.mark.parametrize("part", SHAPES)
def test_files_in_the_output_of_a_tool_become_attachments(part: Any) -> None:
    block = tool(
        {"content": [{"deep": [part]}, "text"]},
        output_json="{...}",
        source_json="{...}",
        attachments=["att_old"],
    )

    (kept,), files = extracted([block])

    assert [file.data for file in files] == [PNG]
    named = {"type": "attachment", "attachment_id": "att_1", "media_type": "image/png"}
    assert kept["output"] == {"content": [{"deep": [{**named, "name": files[0].name}]}, "text"]}
    assert kept["attachments"] == ["att_old", "att_1"]
    assert not {"output_json", "source_json"} & kept.keys()


@pytest.mark.parametrize(
    "content",
    [
        "text",
        None,
        {"type": "attachment", "data": PNG_TEXT},
        [],
        ["text", 5],
        [{"id": "b1", "type": "attachment", "attachment_id": "att_1", "data": PNG_TEXT}],
        [{"id": "b1", "type": "attachment", "name": "a", "data": 5}],
        [{"id": "b1", "type": "prose", "markdown": PNG_URL}],
        [{"id": "b1", "type": "acme.card", "data": PNG_TEXT}],
        [tool(PNG_TEXT)],
        [tool({"type": "image", "data": "***", "mime_type": "image/png"})],
        [tool([{"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}])],
        [tool([{"type": "input_file", "file_data": "x", "filename": "a"}])],
        [{"id": "b1", "type": "tool", "tool": "t", "status": "pending", "input": SHAPES[0]}],
    ],
)
def test_everything_else_stays_the_object_that_it_was(content: Any) -> None:
    kept, files = extracted(content)

    assert kept is content
    assert files == []


def test_a_tool_without_attachments_gets_them() -> None:
    (kept,), _ = extracted([tool(SHAPES[0], attachments="odd")])

    assert kept["attachments"] == ["att_1"]


@pytest.mark.requirement("attachments:inline:refused")
def test_a_message_carries_so_many_files_at_most() -> None:
    extracted([tool([SHAPES[0]] * INLINE_MAX)])

    with pytest.raises(RemoteProtocolError) as refused:
        extracted([tool([SHAPES[0]] * (INLINE_MAX + 1))])

    assert refused.value.code == "limit_exceeded"


@given(st.binary(max_size=100), st.sampled_from(["data", "url", "output"]))
def test_no_byte_of_the_content_stays_in_the_message(data: bytes, where: str) -> None:
    text = base64.b64encode(b"canary" + data).decode()
    block: dict[str, Any] = {"id": "b1", "type": "attachment", "name": "a"}
    if where == "output":
        block = tool([{"type": "image", "data": text, "mime_type": "image/png"}])
    else:
        block[where] = text if where == "data" else f"data:x/y;base64,{text}"

    content, files = extracted([block])

    assert files[0].data == b"canary" + data
    assert text not in encode_json(content).decode()
