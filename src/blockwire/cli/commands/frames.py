"""``blockwire frames``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import click

from blockwire.cli.output import one_line, write_bytes, write_utf8
from blockwire.cli.wirelines import (
    LINE_BYTES_MAX,
    LONG_LINE,
    Read,
    json_of,
    message_json,
    read_events,
    read_lines,
)
from blockwire.errors import LocalProtocolError
from blockwire.jsontext import encode_json
from blockwire.terminal import (
    BadFrame,
    InvalidMessage,
    Ordinary,
    Payload,
    WireMessage,
    decode_message,
    encode_frames,
    encode_message,
)
from blockwire.terminal.bounds import FRAGMENT_BYTES, FRAME_ID_MAX

SHOWN_CHARS_MAX: Final = 100
"""Of content in one row of ``inspect``."""

_FILE: Final = click.argument("file", default="-")


@click.group("frames")
def command() -> None:
    """Write and read the frames of terminal blocks.

    \b
    Look into what a program wrote to its terminal:
      script -qc 'my-program' recording
      blockwire frames inspect recording
    """  # noqa: D301 - click reads the escape: the lines below it stay as they are


@command.command("encode")
@click.option("--file", default="-", help="Messages, one a line; else standard input.")
@click.option(
    "--frame-id",
    type=click.IntRange(1, FRAME_ID_MAX),
    default=1,
    show_default=True,
    help="Id of the first message's frames; the next ones count on.",
)
def encode(file: str, frame_id: int) -> None:
    """Turn messages, one JSON object a line, into frames.

    Each is checked as a terminal or an application would check it. The first that is invalid ends
    the command with its line and code; the frames of those before have been written.
    """
    for number, line in read_lines(file):
        write_bytes(encode_frames(_checked(number, line), frame_id))
        frame_id = frame_id % FRAME_ID_MAX + 1


def _checked(number: int, line: bytes) -> bytes:
    if line == LONG_LINE:
        detail = f"line {number}: longer than {LINE_BYTES_MAX // 2**20} MiB"
        raise LocalProtocolError("document_too_large", detail)
    try:
        return encode_message(decode_message(line))
    except InvalidMessage as error:
        detail = f"line {number}: {error.detail}"
        raise LocalProtocolError(error.code, detail, pointer=error.pointer) from None
    except LocalProtocolError as error:
        raise LocalProtocolError(error.code, f"line {number}: {error.detail}") from None


@command.command("decode")
@_FILE
@click.option(
    "--json", "as_json", is_flag=True, help="Print JSON, one object for each thing found."
)
def decode(file: str, *, as_json: bool) -> None:
    """Print the messages in FILE, a stream of bytes, and what stands between them.

    Without FILE, or with -, standard input is read. Status is 0 whatever the stream holds. With
    --json each line is {"message": ...}, {"error": CODE, "identity": ...} or {"data_base64": ...}.
    """
    for found in read_events(file):
        if as_json:
            write_bytes(b"".join(encode_json(json_of(read)) + b"\n" for read in found))
        else:
            write_utf8("".join(f"{_sentence(read)}\n" for read in found))


@command.command("inspect")
@_FILE
def inspect(file: str) -> None:
    """List what is in FILE, a stream of bytes: where, how long, which frame, what.

    Without FILE, or with -, standard input is read. Controls are shown as labels; nothing in a
    recording can act on the terminal. Status is 0 whatever the stream holds.
    """
    counts = {"messages": 0, "errors": 0, "other bytes": 0}
    for found in read_events(file):
        write_utf8("".join(f"{_row(read)}\n" for read in found))
        for read in found:
            _count(counts, read)
    write_utf8(", ".join(f"{count} {what}" for what, count in counts.items()) + "\n")


def _count(counts: dict[str, int], read: Read) -> None:
    if isinstance(read.event, Ordinary):
        counts["other bytes"] += len(read.event.data)
    else:
        counts["errors" if read.message is None else "messages"] += 1


def _sentence(read: Read) -> str:
    match read.event:
        case Ordinary(data):
            return f"other    {_readable(data)}"
        case BadFrame(code, detail):
            return one_line(f"error    {code}: {detail}")
    if read.error is not None:
        return one_line(f"error    {read.error.code}: {read.error.detail}")
    assert read.message is not None, "a payload is a message or an error"
    return one_line(f"message  {_told(read.message)}")


def _row(read: Read) -> str:
    return _place(read) + one_line(_shortened("".join(_what(read))))


def _place(read: Read) -> str:
    event = read.event
    end = event.offset + len(event.data) if isinstance(event, Ordinary) else event.end
    return f"{event.offset:>9}  {end - event.offset:>8} bytes  "


def _what(read: Read) -> Iterator[str]:
    match read.event:
        case Ordinary(data):
            yield f"other       {_readable(data[: SHOWN_CHARS_MAX * 4])}"
        case BadFrame(code, detail, frame_id=frame_id):
            named = "" if frame_id is None else f" {frame_id}"
            yield f"{'error' + named:<12}{code}: {detail}"
        case Payload(data, frame_id):
            frames = -(-len(data) // FRAGMENT_BYTES)
            named = f"frame {frame_id}" + (f" x{frames}" if frames > 1 else "")
            yield f"{named:<12}"
            if read.error is not None:
                yield f"error {read.error.code}: {read.error.detail}"
            elif read.message is not None:
                yield _told(read.message)


def _told(message: WireMessage) -> str:
    members = message_json(message)
    ids = " ".join(f"{name}={members[name]}" for name in members if name.endswith("_id"))
    version = members["version"]
    spoken = "" if version == 1 else f" version={version}"
    return f"{members['kind']}{spoken} {ids} {encode_json(members['body']).decode()}"


def _readable(data: bytes) -> str:
    return one_line(data.decode("utf-8", "backslashreplace"))


def _shortened(text: str) -> str:
    most = SHOWN_CHARS_MAX + 12
    return text if len(text) <= most else f"{text[:most]}…"
