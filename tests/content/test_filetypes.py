"""What kind of file some bytes are."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.content.filetypes import (
    BINARY_TYPE,
    INLINE_TYPES,
    TEXT_TYPE,
    FileSniffer,
    refine_type,
    sniff_type,
)

SAMPLES = {
    "image/png": b"\x89PNG\r\n\x1a\n" + bytes(8),
    "image/jpeg": b"\xff\xd8\xff\xe0\x00\x10JFIF",
    "image/gif": b"GIF89a" + bytes(7),
    "image/webp": b"RIFF\x24\x00\x00\x00WEBPVP8 ",
    "image/bmp": b"BM\x46\x00\x00\x00\x00\x00\x00\x00\x36\x00\x00\x00\x28\x00\x00\x00",
    "image/avif": b"\x00\x00\x00\x20ftypavif\x00\x00",
    "image/tiff": b"II*\x00\x08\x00",
    "audio/wav": b"RIFF\x24\x00\x00\x00WAVEfmt ",
    "audio/flac": b"fLaC\x00\x00\x00\x22",
    "audio/mpeg": b"ID3\x04\x00\x00",
    "video/mp4": b"\x00\x00\x00\x18ftypmp42\x00\x00",
    "video/quicktime": b"\x00\x00\x00\x14ftypqt  \x00\x00",
    "video/webm": b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm",
    "video/matroska": b"\x1a\x45\xdf\xa3\xa3\x42\x86\x81\x01\x42\x82\x88matroska",
    "application/pdf": b"%PDF-1.7\n%\xe2\xe3",
    "application/zip": b"PK\x03\x04\x14\x00",
    "application/gzip": b"\x1f\x8b\x08\x00",
    "application/x-bzip2": b"BZh91AY&SY\x00",
    "application/x-tar": bytes(257) + b"ustar\x0000",
    "application/vnd.sqlite3": b"SQLite format 3\x00\x10\x00",
    "application/wasm": b"\x00asm\x01\x00\x00\x00",
    TEXT_TYPE: "Grüße, 世界\r\n\t\x1b[1mbold\x1b[0m".encode(),
}


@pytest.mark.requirement("attachments:type:sniffed")
@pytest.mark.parametrize("media_type", sorted(SAMPLES))
def test_a_type_is_found_by_looking_at_the_content(media_type: str) -> None:
    assert sniff_type(SAMPLES[media_type]) == media_type


@pytest.mark.requirement("attachments:type:sniffed")
@pytest.mark.parametrize(
    "data",
    [
        b"\x00",
        b"caf\xe9",
        b"cut \xe4\xb8",
        b"\xff\xfeh\x00i\x00",
        b"nul \x00 in text",
        b"del \x7f",
        b"RIFF\x24\x00\x00\x00ODDS",
        b"\xed\xa0\x80",
    ],
)
def test_what_is_neither_signed_nor_text_is_bytes(data: bytes) -> None:
    assert sniff_type(data) == BINARY_TYPE


@pytest.mark.parametrize(
    "text",
    ["", "BM is no bitmap", "ID3", "BZh", "MThd", "%PDX", "GIF", "{\\rt", "<html>", "ftyp", "FOR"],
)
def test_text_that_begins_like_something_else_is_text(text: str) -> None:
    assert sniff_type(text.encode()) == TEXT_TYPE


@pytest.mark.requirement("attachments:type:claimed")
@pytest.mark.parametrize(
    ("found", "claimed", "kept"),
    [
        (TEXT_TYPE, "text/csv", "text/csv"),
        (TEXT_TYPE, "Application/JSON; charset=utf-8", "application/json"),
        (TEXT_TYPE, "text/html", TEXT_TYPE),
        (TEXT_TYPE, "image/svg+xml", TEXT_TYPE),
        (TEXT_TYPE, "text/javascript", TEXT_TYPE),
        (TEXT_TYPE, "application/xhtml+xml", TEXT_TYPE),
        (TEXT_TYPE, "image/png", TEXT_TYPE),
        (BINARY_TYPE, "image/png", BINARY_TYPE),
        ("image/png", "text/html", "image/png"),
        ("application/zip", "application/epub+zip", "application/epub+zip"),
        ("application/zip", "application/java-archive", "application/zip"),
        (TEXT_TYPE, None, TEXT_TYPE),
        (TEXT_TYPE, "", TEXT_TYPE),
    ],
)
def test_a_claim_only_makes_a_finding_more_precise(
    found: str, claimed: str | None, kept: str
) -> None:
    assert refine_type(found, claimed) == kept


@pytest.mark.requirement("attachments:type:claimed")
@given(st.binary(max_size=40), st.sampled_from(sorted(INLINE_TYPES)))
def test_no_claim_makes_a_picture(data: bytes, claimed: str) -> None:
    assert sniff_type(data, claimed) == sniff_type(data)


@given(st.sampled_from(sorted(SAMPLES)), st.lists(st.integers(0, 300), max_size=6))
def test_where_a_file_is_cut_does_not_matter(media_type: str, cuts: list[int]) -> None:
    data = SAMPLES[media_type]
    sniffer = FileSniffer()
    places = sorted({0, *(cut for cut in cuts if cut < len(data)), len(data)})
    for start, end in itertools.pairwise(places):
        sniffer.feed(data[start:end])

    assert sniffer.finish() == media_type


@pytest.mark.parametrize("media_type", ["application/x-tar", TEXT_TYPE, BINARY_TYPE])
def test_a_long_file_is_looked_at_to_its_end(media_type: str) -> None:
    sniffer = FileSniffer()
    sniffer.feed(SAMPLES.get(media_type, b"a") + b"a" * 1000)
    sniffer.feed(b"\x00" if media_type != TEXT_TYPE else b"a")

    assert sniffer.finish() == media_type


@given(st.text(alphabet=st.characters(blacklist_categories=["Cc", "Cs"])), st.text(max_size=3))
def test_text_stays_text(text: str, more: str) -> None:
    # Behind a letter that no signature begins with.
    assert sniff_type(("é" + text).encode()) == TEXT_TYPE
    assert sniff_type(("é" + more + "\x00").encode("utf-8", "replace")) == BINARY_TYPE
