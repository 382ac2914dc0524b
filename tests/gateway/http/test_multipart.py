"""Forms with one file, names in headers, ranges: the pure parts of uploads and downloads."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from blockwire.errors import RemoteProtocolError
from blockwire.gateway.http.dispositions import disposition, read_file_name
from blockwire.gateway.http.multipart import HEAD_BYTES_MAX, FormFile, read_boundary
from blockwire.gateway.http.ranges import ByteRange, matches_tag, read_range

HEAD = b'Content-Disposition: form-data; name="file"; filename="a.txt"\r\nContent-Type: text/csv'


def form(content: bytes, head: bytes = HEAD, end: bytes = b"--\r\n") -> bytes:
    return b"--xyz\r\n" + head + b"\r\n\r\n" + content + b"\r\n--xyz" + end


def read(body: bytes, *cuts: int) -> tuple[FormFile, bytes]:
    file = FormFile(b"xyz")
    places = sorted({0, *(cut for cut in cuts if cut < len(body)), len(body)})
    content = b"".join(file.feed(body[a:b]) for a, b in itertools.pairwise(places))
    file.finish()
    return file, content


@pytest.mark.requirement("attachments:upload:forms")
@given(
    st.binary(max_size=60)
    | st.text(alphabet="\r\n-xyz", max_size=60).map(str.encode).map(lambda data: b"|" + data),
    st.lists(st.integers(0, 260), max_size=8),
)
def test_a_file_comes_out_of_its_form_however_it_is_cut(content: bytes, cuts: list[int]) -> None:
    if b"\r\n--xyz" in b"\r\n" + content:
        content = content.replace(b"xyz", b"zyx")

    file, found = read(form(content), *cuts)

    assert found == content
    assert (file.file_name, file.media_type) == ("a.txt", "text/csv")


@pytest.mark.parametrize("end", [b"--", b"--\r\n", b"--\r\nepilogue"])
def test_what_follows_a_form_says_nothing(end: bytes) -> None:
    assert read(form(b"x", end=end), 60)[1] == b"x"


def test_nothing_comes_out_after_the_end() -> None:
    file, _ = read(form(b"x"))

    assert file.feed(form(b"more")) == b""


def test_a_line_before_the_first_boundary_may_be_empty() -> None:
    assert read(b"\r\n" + form(b"x"))[1] == b"x"


@pytest.mark.requirement("attachments:upload:forms")
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"--xy",
        b"not a form at all",
        b"--abc\r\n",
        form(b"x")[:-6],
        form(b"x", end=b"\r\n" + HEAD),
        form(b"x", end=b"zz"),
        form(b"x", head=b'Content-Disposition: form-data; name="file"'),
        form(b"x", head=b'Content-Disposition: attachment; filename="a"'),
        form(b"x", head=b"Content-Type: text/plain"),
        form(b"x", head=b"X: " + b"x" * HEAD_BYTES_MAX + b"\r\n" + HEAD),
        b"--xyz\r\n" + b"x" * (HEAD_BYTES_MAX + 1),
    ],
)
def test_what_is_no_form_with_one_file_is_refused(body: bytes) -> None:
    with pytest.raises(RemoteProtocolError) as refused:
        read(body, *range(0, len(body), 7))

    assert refused.value.code == "invalid_multipart"


@pytest.mark.parametrize(
    ("header", "boundary"),
    [
        ("multipart/form-data; boundary=----WebKitFormBoundary7MA4", b"----WebKitFormBoundary7MA4"),
        ('multipart/form-data; charset=utf-8; Boundary="a b c"', b"a b c"),
    ],
)
def test_boundaries(header: str, boundary: bytes) -> None:
    assert read_boundary(header) == boundary


@pytest.mark.parametrize(
    "header",
    ["multipart/form-data", "multipart/form-data; boundary=", 'x; boundary="a\u00e9"',
     "x; boundary=" + "a" * 71, 'x; boundary="a "'],
)  # fmt: skip
def test_no_boundary_is_refused(header: str) -> None:
    with pytest.raises(RemoteProtocolError):
        read_boundary(header)


@pytest.mark.parametrize(
    ("header", "name"),
    [
        ('attachment; filename="a b.txt"', "a b.txt"),
        ("attachment; filename=plain.txt", "plain.txt"),
        ('form-data; name="f"; filename="say %22hi%22.txt"', 'say "hi".txt'),
        ('attachment; filename="say \\"hi\\".txt"', 'say "hi".txt'),
        ("attachment; filename*=UTF-8''na%C3%AFve.txt; filename=\"naive.txt\"", "naïve.txt"),
        ("attachment; filename*=utf-8'en'%FF.txt", "\ufffd.txt"),
        ("attachment; filename*=latin-1''x; filename=y", "y"),
        ('attachment; filename="Grüße.txt"', "Grüße.txt"),
        ("attachment; filename=a; filename=b", "a"),
        ("attachment", None),
        ("", None),
    ],
)
def test_names_in_headers(header: str, name: str | None) -> None:
    assert read_file_name(header) == name


@given(st.text(alphabet=st.characters(blacklist_categories=["Cs"]), max_size=80))
def test_a_name_survives_its_header(name: str) -> None:
    header = disposition("attachment", name)

    assert header.isascii()
    assert header.isprintable()
    kept = read_file_name(header)
    # A percent sign in the quoted form is read as browsers write one.
    assert kept == name or "%22" in name


RANGES: list[tuple[str | None, ByteRange | None]] = [
    ("bytes=0-0", ByteRange(0, 1)),
    ("bytes=0-9", ByteRange(0, 10)),
    ("bytes=2-", ByteRange(2, 10)),
    ("Bytes= 2-3 ", ByteRange(2, 4)),
    ("bytes=8-100", ByteRange(8, 10)),
    ("bytes=-3", ByteRange(7, 10)),
    ("bytes=-100", ByteRange(0, 10)),
    ("bytes=10-", ByteRange(10, 10)),
    ("bytes=99-100", ByteRange(10, 10)),
    ("bytes=-0", ByteRange(10, 10)),
    (None, None),
    ("", None),
    ("bytes=", None),
    ("bytes=-", None),
    ("bytes=3-2", None),
    ("bytes=0-1,3-4", None),
    ("lines=0-1", None),
    ("bytes=a-b", None),
    ("bytes=0x1-2", None),
    ("bytes=1-" + "9" * 20, None),
    ("bytes=+1-2", None),
]


@pytest.mark.requirement("attachments:download:range")
@pytest.mark.parametrize(("header", "wanted"), RANGES)
def test_ranges(header: str | None, wanted: ByteRange | None) -> None:
    assert read_range(header, None, size_bytes=10, etag='"e"') == wanted


@pytest.mark.requirement("attachments:download:range")
@pytest.mark.parametrize(
    ("if_range", "counts"),
    [('"e"', True), (' "e" ', True), ('W/"e"', False), ('"f"', False),
     ("Sat, 29 Oct 1994 19:43:31 GMT", False)],
)  # fmt: skip
def test_a_range_of_another_version_is_answered_with_the_whole(if_range: str, counts: bool) -> None:
    wanted = read_range("bytes=0-1", if_range, size_bytes=10, etag='"e"')

    assert wanted == (ByteRange(0, 2) if counts else None)


@given(st.text(alphabet="bytes=0123456789-, ", max_size=20), st.integers(0, 30))
def test_a_range_lies_inside_whatever_is_asked(header: str, size_bytes: int) -> None:
    wanted = read_range(header, None, size_bytes=size_bytes, etag='"e"')

    assert wanted is None or 0 <= wanted.start <= wanted.end <= size_bytes


@pytest.mark.parametrize(
    ("header", "matches"),
    [(['"e"'], True), (['"a", W/"e"'], True), (["*"], True), (['"a"', '"e"'], True), ([], False),
     (['"a"'], False)],
)  # fmt: skip
def test_tags(header: list[str], matches: bool) -> None:
    assert matches_tag(header, '"e"') is matches
