"""The manifest of the built page: what it says, and what is none."""

from typing import Any

import pytest

from blockwire.errors import BlockwireError, LocalProtocolError
from blockwire.jsontext import encode_json
from blockwire.web import Asset, read_manifest

DIGEST = "0" * 63 + "f"
INDEX = {"index.html": {"sha256": DIGEST, "size_bytes": 7}}


def manifest(assets: Any, sources: Any) -> bytes:
    return encode_json({"assets": assets, "sources": sources})


def test_it_names_what_was_built_and_of_what() -> None:
    name = "assets/main-B_x-1.2.js"
    built = {**INDEX, name: {"sha256": DIGEST, "size_bytes": 0, "more": 1}}

    read = read_manifest(manifest(built, {"web/page/src/main.tsx": DIGEST}))

    assert dict(read.assets) == {
        "index.html": Asset("index.html", 7, DIGEST),
        name: Asset(name, 0, DIGEST),
    }
    assert dict(read.sources) == {"web/page/src/main.tsx": DIGEST}


@pytest.mark.parametrize(
    "data",
    [
        b"[]",
        b"{}",
        manifest(None, {}),
        manifest(INDEX, []),
        manifest({}, {}),
        manifest({**INDEX, "assets/../../x": INDEX["index.html"]}, {}),
        manifest({**INDEX, "assets/.x": INDEX["index.html"]}, {}),
        manifest({**INDEX, "assets/a/b": INDEX["index.html"]}, {}),
        manifest({**INDEX, "assets/a\n": INDEX["index.html"]}, {}),
        manifest({**INDEX, "/etc/passwd": INDEX["index.html"]}, {}),
        manifest({"index.html": []}, {}),
        manifest({"index.html": {"sha256": DIGEST, "size_bytes": True}}, {}),
        manifest({"index.html": {"sha256": DIGEST, "size_bytes": -1}}, {}),
        manifest({"index.html": {"sha256": DIGEST[1:], "size_bytes": 1}}, {}),
        manifest({"index.html": {"size_bytes": 1}}, {}),
        manifest(INDEX, {"web/../x": None}),
        manifest(INDEX, {"src/x": DIGEST}),
        manifest(INDEX, {"web/x": DIGEST.upper()}),
    ],
)
def test_what_is_no_manifest_is_refused(data: bytes) -> None:
    with pytest.raises(LocalProtocolError) as refused:
        read_manifest(data)

    assert refused.value.code == "page_unreadable"


def test_what_is_no_json_is_refused_as_such() -> None:
    with pytest.raises(BlockwireError) as refused:
        read_manifest(b'{"assets":')

    assert refused.value.code == "invalid_json"
