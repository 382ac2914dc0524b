# ruff: noqa: D103, INP001 - a program beside its data, not a package
"""What the vectors of framing consist of: streams, and by hand what a receiver makes of them.

In an expectation ``bytes`` are ordinary, an integer is the message of the frame with that id, and
a string is something bad under the name that blockwire has for it.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple, TypeAlias

Expected: TypeAlias = Sequence[bytes | int | str]

FRAGMENT_BYTES: Final = 3_072
CONTENT_BYTES_MAX: Final = 4_120


class Stream(NamedTuple):
    """One stream; ``at_end`` comes out only at its end."""

    requirement: str
    name: str
    stream: bytes
    expected: Expected
    at_end: Expected = ()


def query(number: int) -> bytes:
    """Return the message that the frame ``number`` carries here."""
    return b'{"version":1,"kind":"capability.query","request_id":"q%d","body":{}}' % number


def long_text(number: int) -> bytes:
    """Return a message of three frames; a cut falls inside a character."""
    head = (
        b'{"version":1,"kind":"block.append","operation_id":"%d","context_id":"c","body":' % number
    )
    head += b'{"block_id":"b","lifecycle":"sealed","content":{"type":"text/plain","data":"'
    return head + "\u6f22\u00e9".encode() * 1_300 + b'"}}}'


def frame(fields: bytes, payload: bytes) -> bytes:
    return b"\x1b]9002;" + fields + b";" + base64.b64encode(payload) + b"\x1b\\"


def one(number: int) -> bytes:
    return frame(b"1;%d;0;0" % number, query(number))


def three(number: int) -> tuple[bytes, bytes, bytes]:
    message = long_text(number)
    first, second, third = (message[n * FRAGMENT_BYTES :][:FRAGMENT_BYTES] for n in range(3))
    return (
        frame(b"1;%d;0;1" % number, first),
        frame(b"1;%d;1;1" % number, second),
        frame(b"1;%d;2;0" % number, third),
    )


Q: Final = base64.b64encode(query(7))
OPEN: Final = b"\x1b]9002;1;7;0;0;" + Q
A, B, C = three(5)
TOO_LONG: Final = b"\x1b]" + b"9002;1;7;0;0;".ljust(CONTENT_BYTES_MAX + 1, b"Q")


def _headers() -> Iterator[Stream]:
    for name, fields in {
        "nothing but the version": b"1", "no index": b"1;7", "no MORE": b"1;7;0", "a field too many": b"1;7;0;0;0",
        "frame id 0": b"1;0;0;0", "frame id 2147483648": b"1;2147483648;0;0", "a frame id of 20 digits": b"1;1" + b"0" * 19 + b";0;0",
        "frame id 007": b"1;007;0;0", "frame id +7": b"1;+7;0;0", "frame id -7": b"1;-7;0;0", "frame id empty": b"1;;0;0",
        "a blank before the frame id": b"1; 7;0;0", "a blank behind the frame id": b"1;7 ;0;0", "frame id 7.0": b"1;7.0;0;0",
        "frame id 0x7": b"1;0x7;0;0", "frame id 1_0": b"1;1_0;0;0", "a digit that is not ASCII": "1;\u0667;0;0".encode(),
        "index 342": b"1;7;342;0", "index 00": b"1;7;00;0", "index -0": b"1;7;-0;0", "index empty": b"1;7;;0",
        "MORE 2": b"1;7;0;2", "MORE 00": b"1;7;0;00", "MORE empty": b"1;7;0;", "MORE no": b"1;7;0;no", "a blank before MORE": b"1;7;0; 0",
    }.items():  # fmt: skip
        stream = b"\x1b]9002;" + fields + b";" + Q + b"\x1b\\"
        # A payload that begins with a separator is a field too many.
        code = "invalid_base64" if fields == b"1;7;0;0;0" else "invalid_header"
        yield Stream("terminal:frame:decimals", f"header: {name}", stream, [code])
    for version in (b"0", b"2", b"10", b"2147483648"):
        stream = frame(version + b";7;0;0", query(7))
        name = f"header: framing version {version.decode()}"
        yield Stream("terminal:frame:version", name, stream, ["unknown_framing_version"])
    for version in (b"", b"01", b"+1", b"1.0", b"v1"):
        stream = frame(version + b";7;0;0", query(7))
        name = f"header: framing version {version.decode()!r}"
        yield Stream("terminal:frame:version", name, stream, ["invalid_header"])


def _payloads() -> Iterator[Stream]:
    for name, payload in {
        "no padding, one byte": b"QQ", "no padding, two bytes": b"QUI", "half the padding": b"QQ=", "three padding characters": b"Q===",
        "padding too much": b"QQ===", "a whole quantum of padding": b"QUJD====", "padding inside": b"QQ==QUJD",
        "bits left over, one byte": b"QR==", "bits left over, two bytes": b"QUJ=", "the URL alphabet": b"__--",
        "a blank inside": b"QU JD", "a blank in front": b" QUJD", "a line feed at the end": b"QUJD\n", "CRLF inside": b"QUJD\r\nQUJD",
        "a separator at the end": b"QUJD;", "NUL": b"QU\x00D", "a byte above 0x7F": b"QUJ\xc3", "a star": b"QUJ*",
    }.items():  # fmt: skip
        stream = b"\x1b]9002;1;7;0;0;" + payload + b"\x1b\\"
        yield Stream("terminal:frame:base64", f"payload: {name}", stream, ["invalid_base64"])
    yield from _lax_payloads()
    for name, stream in {
        "empty": b"\x1b]9002;1;7;0;0;\x1b\\",
        "empty, and more to come": b"\x1b]9002;1;7;0;1;\x1b\\",
        "one byte, and more to come": frame(b"1;7;0;1", b"{"),
        "3,071 bytes, and more to come": frame(b"1;7;0;1", b"{" * 3_071),
        "3,073 bytes": frame(b"1;7;0;0", query(7).ljust(3_073)),
        "3,075 bytes": frame(b"1;7;0;0", query(7).ljust(3_075)),
    }.items():
        yield Stream("terminal:frame:size", f"fragment: {name}", stream, ["invalid_fragment_size"])
    short, late = "invalid_fragment_size", "out_of_sequence"
    for name, size, expected in (
        ("a query in fragments of 40 bytes", 40, [short, late]),
        ("a query in fragments of 3,071 bytes", 3_071, [short, late]),
        ("an empty fragment behind a query", 3_072, ["assembly_abandoned", short]),
    ):
        text = query(7) if size == 40 else query(7).ljust(FRAGMENT_BYTES)
        yield Stream(
            "terminal:frame:size", f"fragment: {name}",
            frame(b"1;7;0;1", text[:size]) + frame(b"1;7;1;0", text[size:]), expected,
        )  # fmt: skip
    yield Stream(
        "terminal:assembly:size", "the last fragment is a byte too long for a message",
        frame(b"1;7;341;0", b"x" * 1_025), ["message_too_long"],
    )  # fmt: skip
    yield Stream(
        "terminal:assembly:size", "the last frame that there can be announces more",
        frame(b"1;7;341;1", b"x" * 3_072), ["message_too_long"],
    )  # fmt: skip


def _lax_payloads() -> Iterator[Stream]:
    """Yield payloads that are a query to whoever is lax, and would be answered."""
    two_left = base64.b64encode(query(70))
    special = base64.b64encode(query(7).replace(b"q7", b"q7>>>>>>??????"))
    assert (Q[-3:], two_left[-2:]) == (b"Q==", b"0="), "one byte is left over, and two are"
    assert {*b"+/"} <= {*special}, "it shows the alphabet"
    joined = base64.b64encode(query(7)[:31]) + base64.b64encode(query(7)[31:])
    for name, payload in {
        "one bit left over, behind one byte": Q[:-3] + b"R==", "all bits left over, behind one byte": Q[:-3] + b"f==",
        "one bit left over, behind two bytes": two_left[:-2] + b"1=", "all bits left over, behind two bytes": two_left[:-2] + b"3=",
        "no padding": Q[:-2], "half of the padding": Q[:-1], "padding too much": Q + b"=", "padding inside": joined,
        "the URL alphabet": special.translate(bytes.maketrans(b"+/", b"-_")), "a blank inside": Q[:8] + b" " + Q[8:],
        "a line feed at the end": Q + b"\n", "CRLF inside": Q[:64] + b"\r\n" + Q[64:], "a star inside": Q[:8] + b"*" + Q[8:],
        "NUL at the end": Q + b"\x00", "a separator at the end": Q + b";", "a byte above 0x7F inside": Q[:8] + b"\xa0" + Q[8:],
    }.items():  # fmt: skip
        stream = b"\x1b]9002;1;7;0;0;" + payload + b"\x1b\\"
        yield Stream("terminal:frame:base64", f"a query: {name}", stream, ["invalid_base64"])


def _scanner() -> Iterator[Stream]:
    rows: list[tuple[str, str, bytes, Expected, Expected]] = [
        ("bare-number", "the number and ST", b"\x1b]9002\x1b\\", ["invalid_header"], []),
        ("bare-number", "the number and BEL", b"\x1b]9002\x07text", ["wrong_terminator", b"text"], []),
        ("bare-number", "the number and ESC", b"\x1b]9002\x1b[m", ["interrupted", b"\x1b[m"], []),
        ("bel", "BEL at the end", OPEN + b"\x07text", ["wrong_terminator", b"text"], []),
        ("bel", "BEL inside", OPEN[:-4] + b"\x07" + OPEN[-4:] + b"\x1b\\",
         ["wrong_terminator", OPEN[-4:] + b"\x1b\\"], []),
        ("cancel", "CAN", OPEN + b"\x18text", ["cancelled", b"text"], []),
        ("cancel", "SUB", OPEN + b"\x1atext", ["cancelled", b"text"], []),
        ("cancel", "CAN, and the rest as if nothing was", OPEN + b"\x18\x1b\\", ["cancelled", b"\x1b\\"], []),
        ("interrupt", "a reset", OPEN + b"\x1bc", ["interrupted", b"\x1bc"], []),
        ("interrupt", "colours", OPEN + b"\x1b[31mred", ["interrupted", b"\x1b[31mred"], []),
        ("interrupt", "ESC ESC \\", OPEN + b"\x1b\x1b\\", ["interrupted", b"\x1b\x1b\\"], []),
        ("interrupt", "ESC, and then a frame", OPEN + b"\x1b" + one(2), ["interrupted", b"\x1b", 2], []),
        ("interrupt", "a DCS string", OPEN + b"\x1bP1$r\x1b\\", ["interrupted", b"\x1bP1$r\x1b\\"], []),
        ("interrupt", "an APC string", OPEN + b"\x1b_a\x1b\\", ["interrupted", b"\x1b_a\x1b\\"], []),
        ("interrupt", "another OSC string", OPEN + b"\x1b]0;t\x07", ["interrupted", b"\x1b]0;t\x07"], []),
        ("interrupt", "another frame", OPEN + one(2), ["interrupted", 2], []),
        ("too-long", "4,121 bytes and ST", TOO_LONG + b"\x1b\\text", ["frame_too_long", b"text"], []),
        ("too-long", "10,000 bytes and ST", TOO_LONG + b"Q" * 5_879 + b"\x1b\\text",
         ["frame_too_long", b"text"], []),
        ("too-long", "4,121 bytes and BEL", TOO_LONG + b"\x07text", ["frame_too_long", b"text"], []),
        ("too-long", "4,121 bytes and CAN", TOO_LONG + b"\x18text", ["frame_too_long", b"text"], []),
        ("too-long", "4,121 bytes and a reset", TOO_LONG + b"\x1bc", ["frame_too_long", b"\x1bc"], []),
        ("discard", "a frame inside of one that is too long", TOO_LONG + b"Q" * 900 + one(2),
         ["frame_too_long", 2], []),
        ("discard", "a title inside of one that is too long", TOO_LONG + b"\x1b]0;t\x07text",
         ["frame_too_long", b"\x1b]0;t\x07text"], []),
        ("no-c1", "0x9C ends no frame", OPEN + b"\x9c", [], ["unfinished"]),
        ("recovery", "two bad frames", b"\x1b]9002;1;7;0;0;*\x1b\\\x1b]9002;\x1b\\",
         ["invalid_base64", "invalid_header"], []),
        ("recovery", "a frame without its end", b"\x1b]9002;1;7;0;0;QUJD", [], ["unfinished"]),
    ]  # fmt: skip
    for area, name, stream, expected, at_end in rows:
        yield Stream(f"terminal:scan:{area}", f"scanner: {name}", stream, expected, at_end)
    for held in (b"\x1b", b"\x1b]", b"\x1b]900"):
        yield Stream("terminal:end:held", f"the end behind {held!r}", held, [], [held])
    yield Stream("terminal:end:held", "the end behind the number", b"\x1b]9002", [], ["unfinished"])
    yield Stream(
        "terminal:end:held", "the end behind ESC in a frame", OPEN + b"\x1b", [], ["unfinished"]
    )
    yield Stream("terminal:end:held", "the end in a message", A + B, [], ["unfinished"])


def _assemblies() -> Iterator[Stream]:
    lost, late = "assembly_abandoned", "out_of_sequence"
    other = three(6)
    rows: list[tuple[str, bytes, Expected]] = [
        ("three frames", A + B + C, [5]),
        ("the same message twice", A + B + C + A + B + C, [5, 5]),
        ("begun anew", A + B + A + B + C, [lost, 5]),
        ("another message instead of the rest", A + one(2), [lost, 2]),
        ("another long message instead of the rest", A + b"".join(other), [lost, 6]),
        ("the second frame twice", A + B + B + C, [lost, late, late]),
        ("without the second frame", A + C, [lost, late]),
        ("without the first frame", B + C, [late, late]),
        ("frames in the wrong order", B + A + C, [late, lost, late]),
        ("a frame of another message", A + other[1] + B + C, [lost, late, late, late]),
        ("a letter between", A + b"x" + B + C, [lost, b"x", late, late]),
        ("NUL between", A + b"\x00" + B + C, [lost, b"\x00", late, late]),
        ("a line feed between", A + b"\n" + B + C, [lost, b"\n", late, late]),
        ("ESC between", A + b"\x1b" + B + C, [lost, b"\x1b", late, late]),
        ("colours between", A + b"\x1b[0m" + B + C, [lost, b"\x1b[0m", late, late]),
        ("a title between", A + B + b"\x1b]0;t\x07" + C, [lost, b"\x1b]0;t\x07", late]),
        ("a bad frame between", A + b"\x1b]9002;x\x1b\\" + B + C, [lost, "invalid_header", late, late]),
        ("a frame that was cut off between", A + OPEN + B + C, [lost, "interrupted", late, late]),
        ("a frame that is too long between", A + TOO_LONG + b"\x1b\\" + B + C,
         [lost, "frame_too_long", late, late]),
        ("a frame that BEL ended between", A + OPEN + b"\x07" + B + C,
         [lost, "wrong_terminator", late, late]),
        ("a frame that CAN ended between", A + OPEN + b"\x18" + B + C, [lost, "cancelled", late, late]),
        ("a frame that SUB ended between", A + OPEN + b"\x1a" + B + C, [lost, "cancelled", late, late]),
        ("BEL behind the first frame", A[:-2] + b"\x07" + B + C, ["wrong_terminator", late, late]),
        ("BEL behind the second frame", A + B[:-2] + b"\x07" + C, [lost, "wrong_terminator", late]),
        ("BEL behind the last frame", A + B + C[:-2] + b"\x07", [lost, "wrong_terminator"]),
        ("CAN behind the second frame", A + B[:-2] + b"\x18" + C, [lost, "cancelled", late]),
        ("CAN between", A + b"\x18" + B + C, [lost, b"\x18", late, late]),
    ]  # fmt: skip
    for name, stream, expected in rows:
        yield Stream("terminal:assembly:table", f"assembly: {name}", stream, expected)


def bad_streams() -> Iterator[Stream]:
    """Yield what is wrong, by rule."""
    yield from _headers()
    yield from _payloads()
    yield from _scanner()
    yield from _assemblies()


def mixed_streams() -> Iterator[Stream]:
    """Yield frames amid everything else."""
    link = b"\x1b]8;;https://example.invalid/\x1b\\link\x1b]8;;\x1b\\"
    ordinary = {
        "text": b"one line\r\nanother",
        "colours": b"\x1b[1;38;5;208morange\x1b[0m",
        "a title that BEL ends": b"\x1b]0;title\x07",
        "a title that ST ends": b"\x1b]2;title\x1b\\",
        "a link": link,
        "a title without an end": b"\x1b]2;titl",
        "marks of a shell": b"\x1b]133;A\x1b\\$ \x1b]133;B\x1b\\",
        "a DCS string": b"\x1bP$q\"p\x1b\\",
        "an APC string": b"\x1b_Gi=1;AAAA\x1b\\",
        "a PM string": b"\x1b^private\x1b\\",
        "an SOS string": b"\x1bXstring\x1b\\",
        "a pasted text": b"\x1b[200~pasted\x1b[201~",
        "controls": b"\x00\x07\x08\x18\x1a\x7f",
        "ESC ESC": b"\x1b\x1b",
        "what is not UTF-8": b"\xff\xfe\xc3",
        "characters": "caf\u00e9 \u6f22\u5b57 \U0001f468\u200d\U0001f469".encode(),
        "C1 bytes": b"\x80\x90\x9b\x9c\x9d",
        "C1 characters": "\u0090\u009c\u009d".encode(),
        "the alternate screen": b"\x1b[?1049h\x1b[H\x1b[2J\x1b[?1049l",
    }  # fmt: skip
    for name, data in ordinary.items():
        yield Stream("terminal:scan:transparent", f"only {name}", data, [data])
        yield Stream(
            "terminal:scan:transparent", f"{name} around frames",
            one(1) + data + one(2) + data, [1, data, 2, data],
        )  # fmt: skip
    for number in (
        b"90020",
        b"90021",
        b"09002",
        b"900",
        b"9003",
        b"9002 ",
        b"9002:",
        b"9002x",
        b" 9002",
    ):
        data = b"\x1b]" + number + b";1;7;0;0;" + Q + b"\x1b\\"
        name = f"the OSC number {number.decode()!r}"
        yield Stream("terminal:scan:number", name, data + one(1), [data, 1])
    for name, data in {
        "0x9D as an introducer": b"\x9d" + OPEN[2:] + b"\x1b\\",
        "U+009D as an introducer": b"\xc2\x9d" + OPEN[2:] + b"\x1b\\",
        "0x9D and 0x9C": b"\x9d" + OPEN[2:] + b"\x9c",
    }.items():
        yield Stream("terminal:scan:no-c1", name, data + one(1), [data, 1])
    for name, opener in {
        "an OSC string": b"\x1b]2;title", "a DCS string": b"\x1bP1$r", "an APC string": b"\x1b_a",
        "a PM string": b"\x1b^a", "an SOS string": b"\x1bXa", "a control sequence": b"\x1b[3",
    }.items():  # fmt: skip
        stream = opener + one(1) + b"after"
        where = f"a frame inside of {name}"
        yield Stream("terminal:scan:in-strings", where, stream, [opener, 1, b"after"])
    wrapped = b"\x1bPtmux;" + OPEN.replace(b"\x1b", b"\x1b\x1b") + b"\x1b\x1b\\\x1b\\"
    yield Stream(
        "terminal:scan:in-strings", "a frame that a multiplexer has wrapped",
        wrapped, [b"\x1bPtmux;\x1b", "interrupted", b"\x1b\x1b\\\x1b\\"],
    )  # fmt: skip
    yield Stream("terminal:scan:any-cut", "nothing", b"", [])
    yield Stream("terminal:scan:any-cut", "frame to frame", one(1) + one(2) + one(3), [1, 2, 3])
    yield Stream(
        "terminal:scan:any-cut", "introducers that come to nothing",
        b"\x1b]\x1b]9\x1b]900\x1b" + one(1), [b"\x1b]\x1b]9\x1b]900\x1b", 1],
    )  # fmt: skip
    yield Stream(
        "terminal:scan:any-cut", "a long message", b"a" + A + B + C + b"b", [b"a", 5, b"b"]
    )
    yield Stream(
        "terminal:scan:any-cut", "good and bad",
        b"$ " + one(1) + link + OPEN + b"\x07\r\n" + A + b"\x1b[0m" + B + one(2) + b"\x1b]9002;\x18.",
        [b"$ ", 1, link, "wrong_terminator", b"\r\n", "assembly_abandoned", b"\x1b[0m",
         "out_of_sequence", 2, "cancelled", b"."],
    )  # fmt: skip


class Long(NamedTuple):
    """A query with blanks behind it, ``size`` bytes in all, and what is found in its frames."""

    requirement: str
    name: str
    size: int
    frame_id: int
    expected: Expected


LONG_QUERIES: Final = [
    Long("terminal:assembly:size", "a query as long as a message can be", 1_048_576, 9, [9]),
    Long("terminal:assembly:size", "a query a byte longer than a message can be", 1_048_577, 9,
         ["assembly_abandoned", "message_too_long"]),
    Long("terminal:assembly:size", "a query in 343 frames", 342 * FRAGMENT_BYTES + 1, 9,
         ["assembly_abandoned", "message_too_long", "invalid_header"]),
    # Of nine digits and of ten, in frames of index 100 and more: 4,119 and 4,120 bytes of content.
    Long("terminal:scan:too-long", "frames of 4,119 bytes", 103 * FRAGMENT_BYTES + 1, 999_999_999, [999_999_999]),
    Long("terminal:scan:too-long", "frames of 4,120 bytes", 103 * FRAGMENT_BYTES + 1, 2_147_483_647, [2_147_483_647]),
]  # fmt: skip


class Written(NamedTuple):
    """A message of ``size`` bytes, the character ``unit`` again and again, cut at the end."""

    name: str
    unit: str
    size: int
    frame_id: int
    frame_sizes: list[int]


WRITTEN: Final = [
    Written("one byte", "x", 1, 1, [1]),
    Written("one frame, full", "x", 3_072, 2, [3_072]),
    Written("a byte more than a frame", "x", 3_073, 3, [3_072, 1]),
    Written("cuts inside of characters", "\u6f22\u00e9", 7_000, 2_147_483_647, [3_072, 3_072, 856]),
    Written("as long as a message can be", "x", 1_048_576, 4, [3_072] * 341 + [1_024]),
]


class Typed(NamedTuple):
    """Bytes on an application's input, at a time, and what is ordinary until that time.

    ``steps``: (milliseconds, bytes, is an answer outstanding, ordinary bytes that have come out by
    then since the step before; the bytes are received first, then the time is looked at).
    """

    requirement: str
    name: str
    steps: list[tuple[int, bytes, bool, bytes]]


TYPED: Final = [
    Typed("terminal:input:hold", "a lone ESC", [
        (0, b"\x1b", False, b""), (49, b"", False, b""), (51, b"", False, b"\x1b")]),
    Typed("terminal:input:hold", "Alt and a bracket", [
        (0, b"\x1b]", False, b""), (49, b"", False, b""), (51, b"", False, b"\x1b]")]),
    Typed("terminal:input:hold", "a part of an introducer, from its first byte on", [
        (0, b"\x1b", False, b""), (30, b"]9", False, b""), (51, b"", False, b"\x1b]9")]),
    Typed("terminal:input:hold", "ESC twice", [
        (0, b"\x1b", False, b""), (30, b"\x1b", False, b"\x1b"), (51, b"", False, b""), (81, b"", False, b"\x1b")]),
    Typed("terminal:input:hold", "what came out begins no frame", [
        (0, b"\x1b", False, b""), (60, b"", False, b"\x1b"), (70, one(1)[1:] + b"x", False, one(1)[1:] + b"x")]),
    Typed("terminal:input:reply", "a lone ESC while an answer is outstanding", [
        (0, b"\x1b", True, b""), (51, b"", True, b"\x1b")]),
    Typed("terminal:input:reply", "a part of an introducer while an answer is outstanding", [
        (0, b"\x1b]90", True, b""), (51, b"", True, b""), (900, b"", True, b""), (1_000, b"", False, b"\x1b]90")]),
    Typed("terminal:input:reply", "an answer in two parts, far from each other", [
        (0, one(1)[:4], True, b""), (900, one(1)[4:] + b"x", True, b"x")]),
    Typed("terminal:input:at-once", "what cannot be an introducer", [
        (0, b"\x1b[A", False, b"\x1b[A"), (1, b"\x1b", False, b""), (2, b"OA", False, b"\x1bOA"),
        (3, b"\x1b]", False, b""), (4, b"8", False, b"\x1b]8")]),
    Typed("terminal:input:at-once", "a number that is not ours", [
        (0, b"\x1b]9002", False, b""), (1, b"1", False, b"\x1b]90021")]),
]  # fmt: skip
