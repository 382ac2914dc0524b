"""The page over HTTP: what is served, to whom, and how browsers may keep it."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from blockwire.gateway.access.auth import Auth, Token, hash_token
from blockwire.gateway.http.built_page import ASSET_BYTES_MAX, BuiltPage, accepts_gzip, accepts_html
from blockwire.jsontext import Json, encode_json
from blockwire.web import CONTENT_SECURITY_POLICY, PERMISSIONS_POLICY
from tests.gateway.http.surface import URL, Surface, json_of, surface

pytestmark = pytest.mark.anyio

BROWSER: Final = {
    "accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "accept-encoding": "gzip, deflate, br, zstd",
}
PLAIN: Final = {"accept-encoding": "identity"}
SCRIPT: Final = b"export const a = 1;\n" * 100
FILES: Final[Mapping[str, bytes]] = {
    "index.html": b"<!doctype html><title>x</title>" * 20,
    "assets/main-1a.js": SCRIPT,
    "assets/style-2b.css": b"p { color: red }" * 50,
    "assets/icon-3c.svg": b"<svg/>",
}


def built(folder: Path, files: Mapping[str, bytes] = FILES) -> BuiltPage:
    (folder / "assets").mkdir(parents=True)
    assets: dict[str, Json] = {}
    for name, content in files.items():
        (folder / name).write_bytes(content)
        digest = hashlib.sha256(content).hexdigest()
        assets[name] = {"sha256": digest, "size_bytes": len(content)}
    (folder / "manifest.json").write_bytes(encode_json({"assets": assets, "sources": {}}))
    (folder / "assets" / "unlisted.js").write_bytes(b"left over")
    return BuiltPage(folder)


@asynccontextmanager
async def serving(folder: Path, **more: Any) -> AsyncIterator[Surface]:
    async with surface(page=built(folder / "static"), **more) as s:
        yield s


@pytest.mark.requirement("page:assets:same-page")
@pytest.mark.parametrize("path", ["/", "/c/conv_1", "/c/%2e%2e"])
async def test_the_same_page_is_at_every_address_of_a_conversation(
    tmp_path: Path, path: str
) -> None:
    async with serving(tmp_path) as s:
        page = await s.client.get(path, headers=BROWSER)
        head = await s.client.head(path, headers=BROWSER)

        assert (page.status_code, page.content) == (200, FILES["index.html"])
        assert page.headers["content-type"] == "text/html; charset=utf-8"
        assert page.headers["cache-control"] == "no-cache"
        assert page.headers["content-encoding"] == "gzip"
        assert "accept-encoding" in page.headers["vary"]
        assert (head.status_code, head.content) == (200, b"")
        assert head.headers["content-length"] == page.headers["content-length"]


@pytest.mark.requirement(
    "page:security:policy", "page:security:trusted-types", "page:security:permissions"
)
async def test_the_page_comes_with_its_policy(tmp_path: Path) -> None:
    async with serving(tmp_path) as s:
        for path in ("/", "/c/conv_1"):
            headers = (await s.client.get(path, headers=BROWSER)).headers

            assert headers.get_list("content-security-policy") == [CONTENT_SECURITY_POLICY]
            assert headers["permissions-policy"] == PERMISSIONS_POLICY
            assert headers["x-content-type-options"] == "nosniff"
            assert headers["x-frame-options"] == "DENY"
            assert headers["referrer-policy"] == "no-referrer"
            assert headers["cross-origin-opener-policy"] == "same-origin"
            assert headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.requirement("page:security:workers", "page:assets:kept")
@pytest.mark.parametrize(
    ("name", "media_type", "encoding"),
    [
        ("assets/main-1a.js", "text/javascript; charset=utf-8", "gzip"),
        ("assets/style-2b.css", "text/css; charset=utf-8", "gzip"),
        # Packed it would be larger.
        ("assets/icon-3c.svg", "image/svg+xml", None),
    ],
)
async def test_what_the_page_loads_may_be_kept_for_ever(
    tmp_path: Path, name: str, media_type: str, encoding: str | None
) -> None:
    async with serving(tmp_path) as s:
        answer = await s.client.get(f"/{name}", headers=BROWSER)

        assert (answer.status_code, answer.content) == (200, FILES[name])
        assert answer.headers["content-type"] == media_type
        assert answer.headers.get("content-encoding") == encoding
        assert answer.headers.get_list("cache-control") == ["public, max-age=31536000, immutable"]
        assert answer.headers["content-security-policy"] == CONTENT_SECURITY_POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"


@pytest.mark.requirement("page:assets:packed")
async def test_packed_and_plain_are_two_versions_with_a_tag_each(tmp_path: Path) -> None:
    async with serving(tmp_path) as s:
        url = "/assets/main-1a.js"
        packed = await s.client.get(url, headers=BROWSER)
        plain = await s.client.get(url, headers=PLAIN)
        known = {"if-none-match": packed.headers["etag"]}
        again = await s.client.get(url, headers={**BROWSER, **known})
        other = await s.client.get(url, headers={**PLAIN, **known})

        assert packed.content == plain.content == SCRIPT
        assert "content-encoding" not in plain.headers
        assert int(packed.headers["content-length"]) < len(SCRIPT) // 4
        assert packed.headers["etag"] != plain.headers["etag"]
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert other.status_code == 200


@pytest.mark.requirement("page:assets:listed")
@pytest.mark.parametrize(
    "path",
    [
        "/assets/unlisted.js",
        "/assets/",
        "/assets/index.html",
        "/assets/manifest.json",
        "/manifest.json",
        "/index.html",
        "/assets/..%2findex.html",
        "/assets/%2e%2e%2fmanifest.json",
        "/assets/..%5cindex.html",
        "/assets/main-1a.js%00",
        "/assets/main-1a.js/",
        "/assets//main-1a.js",
        "/assets/x/../main-1a.js%2f",
        "/ASSETS/main-1a.js",
        "/c/",
        "/c/a/b",
    ],
)
async def test_nothing_is_served_that_the_manifest_does_not_name(tmp_path: Path, path: str) -> None:
    async with serving(tmp_path) as s:
        answer = await s.client.get(path, headers=BROWSER)

        assert answer.status_code == 404
        assert json_of(answer)["error"]["code"] == "not_found"


@pytest.mark.requirement("page:assets:words")
@pytest.mark.parametrize("accept", ["*/*", "application/json", ""])
async def test_who_does_not_ask_for_html_gets_a_few_words(tmp_path: Path, accept: str) -> None:
    async with serving(tmp_path) as s:
        answer = await s.client.get("/", headers={"accept": accept})

        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert "curl" in answer.text
        assert "accept" in answer.headers["vary"].split(", ")
        assert answer.headers["cache-control"] == "no-cache"


@pytest.mark.requirement("page:security:harmless")
async def test_the_page_needs_no_token_and_is_the_same_for_everybody(tmp_path: Path) -> None:
    async with serving(tmp_path, auth=Auth([OWNER])) as s:
        conversation_id = await s.world.conversation()
        for path in ("/", f"/c/{conversation_id}", "/c/conv_nowhere", "/assets/main-1a.js"):
            bare = await s.client.get(path, headers=BROWSER)
            known = await s.client.get(
                path, headers={**BROWSER, "authorization": f"Bearer {'t' * 16}"}
            )
            wrong = await s.client.get(path, headers={**BROWSER, "authorization": "Bearer x"})

            assert bare.status_code == known.status_code == wrong.status_code == 200
            assert bare.content == known.content == wrong.content
            assert "set-cookie" not in known.headers
        assert (await s.client.get("/v1/conversations")).status_code == 401


@pytest.mark.requirement("page:security:sites")
@pytest.mark.parametrize(
    ("headers", "code"),
    [
        ({"host": "rebound.example:7890"}, "host_refused"),
        ({"host": "127.0.0.1.nip.example"}, "host_refused"),
        ({"origin": "https://evil.example"}, "origin_refused"),
        ({"origin": "null"}, "origin_refused"),
    ],
)
async def test_a_page_of_another_site_gets_nothing(
    tmp_path: Path, headers: dict[str, str], code: str
) -> None:
    async with serving(tmp_path) as s:
        for path in ("/", "/c/conv_1", "/assets/main-1a.js"):
            answer = await s.client.get(path, headers={**BROWSER, **headers})

            assert (answer.status_code, json_of(answer)["error"]["code"]) == (403, code)
            assert "access-control-allow-origin" not in answer.headers


@pytest.mark.requirement("page:assets:whole")
@pytest.mark.parametrize(
    "damage", ["nothing", "no_file", "other", "huge", "no_json", "no_manifest"]
)
async def test_a_page_that_is_not_whole_says_so(tmp_path: Path, damage: str) -> None:
    page = built(tmp_path / "static")
    index, manifest = (tmp_path / "static" / name for name in ("index.html", "manifest.json"))
    match damage:
        case "nothing":
            page = BuiltPage(tmp_path / "nowhere")
        case "no_file":
            index.unlink()
        case "other":
            index.write_bytes(b"<script>alert(1)</script>")
        case "huge":
            index.write_bytes(b" " * (ASSET_BYTES_MAX + 1))
        case "no_json":
            manifest.write_bytes(b"{")
        case _:
            manifest.write_bytes(b"{}")
    async with surface(page=page) as s:
        answer = await s.client.get("/c/conv_1", headers=BROWSER)

        error = json_of(answer)["error"]
        assert (answer.status_code, error["code"]) == (500, "page_unreadable")
        assert str(tmp_path) not in error["message"]


@pytest.mark.requirement("page:assets:revalidated")
async def test_the_page_is_asked_for_again_each_time(tmp_path: Path) -> None:
    async with serving(tmp_path) as s:
        first = await s.client.get("/", headers=BROWSER)
        elsewhere = await s.client.get("/c/conv_1", headers=BROWSER)
        known = {"if-none-match": first.headers["etag"]}
        again = await s.client.get("/", headers={**BROWSER, **known})

        assert first.headers["cache-control"] == "no-cache"
        assert elsewhere.headers["etag"] == first.headers["etag"]
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["content-security-policy"] == CONTENT_SECURITY_POLICY


async def logged_in(s: Surface) -> dict[str, str]:
    """Return the headers of a browser that has logged in."""
    answer = await s.client.post(
        "/v1/login",
        content=encode_json({"token": "t" * 16}),
        headers={"content-type": "application/json", "origin": URL},
    )
    assert answer.status_code == 200
    assert "HttpOnly" in answer.headers["set-cookie"]
    assert "t" * 16 not in answer.text + answer.headers["set-cookie"]
    # The client sends it by itself, as browsers do.
    return {"origin": URL, "blockwire-protocol": "1"}


OWNER: Final = Token("t", hash_token("t" * 16), frozenset({"read", "write"}))


@pytest.mark.requirement("page:security:cross-site")
@pytest.mark.parametrize(
    "media_type",
    [
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "text/plain",
        "application/json",
    ],
)
@pytest.mark.parametrize(
    "more",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        # A page of another port of this machine.
        {"origin": "http://127.0.0.1:9999"},
        # What a form of ours could send, if there were one.
        {"origin": URL},
        {"origin": URL, "blockwire-protocol": "1", "sec-fetch-site": "cross-site"},
        {"origin": URL, "blockwire-protocol": "1", "sec-fetch-site": "same-site"},
        {},
    ],
)
async def test_a_change_by_cookie_comes_from_our_own_page_only(
    tmp_path: Path, media_type: str, more: dict[str, str]
) -> None:
    async with serving(tmp_path, auth=Auth([OWNER])) as s:
        own = await logged_in(s)
        conversation_id = await s.world.conversation()
        for method, path in (
            ("POST", "/v1/conversations"),
            ("POST", f"/v1/conversations/{conversation_id}/turns"),
            ("DELETE", f"/v1/conversations/{conversation_id}"),
        ):
            answer = await s.client.request(
                method, path, content=b"{}", headers={"content-type": media_type, **more}
            )

            assert answer.status_code == 403
            assert json_of(answer)["error"]["code"] in {"origin_refused", "csrf_refused"}
            assert "access-control-allow-origin" not in answer.headers
        assert (await s.client.get(f"/v1/conversations/{conversation_id}")).status_code == 200
        assert (await s.client.post("/v1/conversations", headers=own)).status_code == 201


@pytest.mark.requirement("page:security:no-token-in-urls")
@pytest.mark.parametrize("name", ["token", "access_token", "authorization", "share", "secret"])
async def test_a_token_in_a_url_lets_nobody_in(tmp_path: Path, name: str) -> None:
    async with serving(tmp_path, auth=Auth([OWNER])) as s:
        for path in ("/v1/conversations", "/v1/capabilities", "/v1/events", "/", "/c/conv_1"):
            answer = await s.client.get(f"{path}?{name}={'t' * 16}", headers=BROWSER)

            assert answer.status_code in {400, 401}
            assert "t" * 16 not in answer.text


async def test_a_page_is_read_once(tmp_path: Path) -> None:
    async with serving(tmp_path) as s:
        first = await s.client.get("/assets/main-1a.js", headers=BROWSER)
        (tmp_path / "static" / "assets" / "main-1a.js").unlink()
        again = await s.client.get("/assets/main-1a.js", headers=BROWSER)

        assert again.content == first.content
        assert gzip.compress(SCRIPT, mtime=0)[4:8] == b"\0\0\0\0"


@pytest.mark.parametrize(
    ("header", "takes"),
    [
        ("gzip", True),
        ("deflate, GZIP;q=0.5", True),
        ("x-gzip", True),
        ("gzip;q=0", False),
        ("gzip; q=0.000", False),
        ("br, *", False),
        ("identity", False),
        ("", False),
    ],
)
def test_gzip_is_sent_to_who_names_it(header: str, takes: bool) -> None:
    assert accepts_gzip(header) is takes


@pytest.mark.parametrize(
    ("header", "takes"),
    [(BROWSER["accept"], True), ("TEXT/HTML;q=0.1", True), ("*/*", False), ("text/*", False)],
)
def test_html_is_sent_to_who_names_it(header: str, takes: bool) -> None:
    assert accepts_html(header) is takes
