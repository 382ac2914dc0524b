"""Requests as bytes that no client would send: garbage, damage, lies about lengths, floods."""

from __future__ import annotations

import random
from typing import Final

__all__ = ["ATTACKS", "random_attack"]

HEAD: Final = b"Host: localhost\r\n"
GET: Final = b"GET /v1/conversations HTTP/1.1\r\n" + HEAD + b"\r\n"
POST: Final = b"POST /v1/conversations HTTP/1.1\r\n" + HEAD + b"Content-Type: application/json\r\n"
UPLOAD: Final = (
    b"POST /v1/conversations/c/turns/t/events HTTP/1.1\r\n"
    + HEAD
    + b"Content-Type: application/x-ndjson\r\n"
)
CHUNKED: Final = b"Transfer-Encoding: chunked\r\n"

ATTACKS: Final[dict[str, list[bytes]]] = {
    "nothing": [],
    "a line break": [b"\r\n"],
    "zeros": [b"\x00" * 1000],
    "binary": [bytes(range(256)) * 10],
    "TLS": [b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 200],
    "HTTP/2": [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"\x00\x00\x00\x04\x00\x00\x00\x00\x00"],
    "HTTP/0.9": [b"GET /\r\n\r\n"],
    "HTTP/9.9": [b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n"],
    "no host": [b"GET /healthz HTTP/1.1\r\n\r\n"],
    "two hosts": [b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.test\r\n\r\n"],
    "absolute target": [b"GET http://evil.test/ HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    "connect": [b"CONNECT evil.test:443 HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    "asterisk": [b"OPTIONS * HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    "unknown method": [b"BREW /pot HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    "endless method": [b"G" * 100_000],
    "path with dots": [b"GET /v1/../../etc/passwd HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    "path with escapes": [b"GET /v1/%2e%2e%2f%00%ff HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    "path that is no UTF-8": [b"GET /\xff\xfe HTTP/1.1\r\nHost: localhost\r\n\r\n"],
    "control in a header": [b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\x00b\x0bc\r\n\r\n"],
    "folded header": [b"GET / HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n"],
    "header without name": [b"GET / HTTP/1.1\r\nHost: localhost\r\n: x\r\n\r\n"],
    "many headers": [b"GET / HTTP/1.1\r\nHost: localhost\r\n", b"X: y\r\n" * 20_000, b"\r\n"],
    "a huge header": [b"GET / HTTP/1.1\r\nHost: localhost\r\nX: ", b"y" * 300_000, b"\r\n\r\n"],
    "a huge cookie": [b"GET /v1/conversations HTTP/1.1\r\n" + HEAD + b"Cookie: " + b"a=b; " * 9_000 + b"\r\n\r\n"],
    "length that is no number": [POST + b"Content-Length: abc\r\n\r\n{}"],
    "negative length": [POST + b"Content-Length: -1\r\n\r\n{}"],
    "length beyond all": [POST + b"Content-Length: 99999999999999999999999999\r\n\r\n{}"],
    "two lengths": [POST + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}x"],
    "length and chunks": [POST + b"Content-Length: 2\r\n" + CHUNKED + b"\r\n2\r\n{}\r\n0\r\n\r\n"],
    "smuggled request": [POST + b"Content-Length: 4\r\n" + CHUNKED + b"\r\n0\r\n\r\n" + GET],
    "unknown coding": [POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"],
    "chunked twice": [POST + b"Transfer-Encoding: chunked, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"],
    "chunk size that is no number": [POST + CHUNKED + b"\r\nzz\r\n{}\r\n0\r\n\r\n"],
    "negative chunk": [POST + CHUNKED + b"\r\n-2\r\n{}\r\n0\r\n\r\n"],
    "chunk beyond all": [POST + CHUNKED + b"\r\nffffffffffffffffff\r\n{}\r\n"],
    "chunk that is longer than said": [POST + CHUNKED + b"\r\n1\r\n{}}}}\r\n0\r\n\r\n"],
    "chunk without end": [POST + CHUNKED + b"\r\n2\r\n{}\r\n"],
    "endless extension": [POST + CHUNKED + b"\r\n2;" + b"x" * 100_000],
    "many small chunks": [POST + CHUNKED + b"\r\n", b"1\r\n \r\n" * 20_000, b"0\r\n\r\n"],
    "endless trailers": [POST + CHUNKED + b"\r\n0\r\n", b"X: y\r\n" * 20_000],
    "half a body": [POST + b"Content-Length: 1000\r\n\r\n{"],
    "half an upload": [UPLOAD + CHUNKED + b'\r\n5\r\n{"typ\r\n'],
    "body of a GET": [b"GET /healthz HTTP/1.1\r\n" + HEAD + b"Content-Length: 5\r\n\r\nhello" + GET],
    "expectation": [POST + b"Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}"],
    "unknown expectation": [POST + b"Expect: miracles\r\nContent-Length: 2\r\n\r\n{}"],
    "upgrade": [b"GET /v1/conversations HTTP/1.1\r\n" + HEAD + b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n\r\n"],
    "upgrade to h2c": [GET[:-2] + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n"],
    "pipeline": [GET * 200],
    "pipeline of streams": [b"GET /v1/conversations/x/events HTTP/1.1\r\n" + HEAD + b"\r\n" + GET * 50],
    "pipeline of nonsense": [(GET + b"nonsense\r\n\r\n") * 50],
    "one byte at a time": [GET[index : index + 1] for index in range(len(GET))],
    "byte order mark": [b"\xef\xbb\xbf" + GET],
}  # fmt: skip
"""What is sent, in pieces."""

_SEEDS: Final = [b"".join(pieces)[:4_000] for pieces in ATTACKS.values()]
_TOKENS: Final = (
    b"\r\n", b"\n", b"\r", b"\x00", b"\xff", b" ", b":", b"\r\n\r\n", b"Content-Length: 5\r\n",
    CHUNKED, b"HTTP/1.1", b"%00", b"/../", b"0\r\n\r\n", b"ffff\r\n", b"\t", b"Host: x\r\n",
    b"Connection: close\r\n", b"Authorization: Bearer \xff\r\n", b"Cookie: blockwire-80=x\r\n",
)  # fmt: skip


def random_attack(chance: random.Random) -> list[bytes]:
    """Return pieces of damaged requests."""
    data = bytearray(b"".join(chance.choices(_SEEDS, k=chance.randint(1, 3))))
    for _ in range(chance.randint(1, 8)):
        at = chance.randint(0, len(data))
        data[at : at + chance.choice((0, 0, 1, 5, 40))] = chance.choice(
            (chance.choice(_TOKENS), chance.randbytes(chance.randint(1, 8)))
        )
    cuts = sorted(chance.randint(0, len(data)) for _ in range(chance.randint(0, 4)))
    return [bytes(data[a:b]) for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
