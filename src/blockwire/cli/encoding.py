"""Text in and out of a world that is not all UTF-8.

Spec: docs/reference/terminal-output.md. Bytes that are no UTF-8 come in as U+FFFD; what a terminal
of another encoding cannot show goes out as its nearest ASCII, as wide as it was.

Which encoding a terminal has is told by the variables alone: in the locales C and POSIX the
interpreter writes UTF-8 whatever they say (PEP 538 and PEP 540).
"""

from __future__ import annotations

import codecs
import io
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, TextIO, cast

import click

if TYPE_CHECKING:
    from blockwire.text.charset import Charset

__all__ = [
    "ID",
    "TEXT",
    "read_text_input",
    "readable",
    "repair_streams",
    "terminal_charset",
    "terminal_encoding",
]

READ_BYTES: Final = 65_536

FALLBACK: Final = "blockwire.ascii"
"""Name of the error handler of standard output and standard error."""

# Each as wide as what it stands for, so that rows keep their columns.
_ASCII: Final[Mapping[int, str]] = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212\u2500\u2501", "-"),
        **dict.fromkeys("\u2018\u2019\u201a\u2032", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u00ab\u00bb\u2033", '"'),
        **dict.fromkeys("\u2022\u25cf\u25e6\u00b7\u25aa\u2219", "*"),
        **dict.fromkeys("\u2502\u2503\u258e\u2588\u258f", "|"),
        **dict.fromkeys("\u250c\u2510\u2514\u2518\u251c\u2524\u252c\u2534\u253c\u256d\u256e", "+"),
        **dict.fromkeys("\u2713\u2714\u2611", "v"),
        **dict.fromkeys("\u2717\u2718\u2610", "x"),
        # What turns while something is done.
        **dict(
            zip(
                "\u280b\u2819\u2839\u2838\u283c\u2834\u2826\u2827\u2807\u280f",
                "|/-\\|/-\\|/",
                strict=True,
            )
        ),
        "\u25bc": "v",
        "\u25cb": "o",
        "\u25d0": "o",
        "\u2190": "<",
        "\u2192": ">",
        "\u2026": ".",
        "\u266a": "~",
        "\u00a0": " ",
    }
)


def _as_ascii(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    # Only where it is needed: most terminals are UTF-8.
    from blockwire.text import clusters, width

    parts: list[str] = []
    for cluster in clusters(error.object[error.start : error.end]):
        spelled = cluster.translate(_ASCII)
        parts.append(spelled if spelled.isascii() else "?" * width(cluster))
    return "".join(parts), error.end


codecs.register_error(FALLBACK, _as_ascii)


# What PEP 538 puts into LC_CTYPE where the locale is C.
_COERCED: Final = frozenset({"C.UTF-8", "C.utf8", "UTF-8"})
_ASCII_LOCALES: Final = frozenset({"C", "POSIX"})
_PRINTABLE: Final = "".join(map(chr, range(0x20, 0x7F)))


def terminal_encoding(
    env: Mapping[str, str] = os.environ, *, is_coerced: bool | None = None
) -> str:
    """Return the encoding of a terminal: ``utf-8`` unless the locale names another one.

    The first of ``LC_ALL``, ``LC_CTYPE`` and ``LANG`` that says something counts.

    Args:
        env: The variables.
        is_coerced: Whether the interpreter, and not the person, may have set ``LC_CTYPE``.
    """
    if is_coerced is None:
        # Only in a locale that was C when it began, unless somebody wanted it.
        is_coerced = bool(sys.flags.utf8_mode) and not env.get("PYTHONUTF8")
    ctype = env.get("LC_CTYPE")
    if is_coerced and ctype in _COERCED:
        ctype = None
    locale = env.get("LC_ALL") or ctype or env.get("LANG") or ""
    if locale in _ASCII_LOCALES:
        return "ascii"
    _language, _dot, codeset = locale.partition("@")[0].partition(".")
    return _codec(codeset) if codeset else "utf-8"


def terminal_charset(env: Mapping[str, str]) -> Charset:
    """Return the encoding of a terminal, with the nearest ASCII for what that cannot hold."""
    from blockwire.text.charset import Charset

    return Charset(terminal_encoding(env), FALLBACK)


def _codec(codeset: str) -> str:
    """Return the codec of a name; ASCII for one that is unknown, or changes what ASCII means."""
    try:
        name = codecs.lookup(codeset).name
        is_safe = _PRINTABLE.encode(name) == _PRINTABLE.encode("ascii")
    except (LookupError, UnicodeError):
        return "ascii"
    return name if is_safe and not name.startswith("iso2022") else "ascii"


def repair_streams() -> None:
    """Make the standard streams usable: none is missing, and none raises about an encoding.

    A terminal gets the encoding of the locale. What goes elsewhere keeps that of the interpreter: a
    file that is written in the locale C loses nothing.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # Closed by whoever started us; the next file that is opened must not take its place.
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115
    for stream in (sys.stdout, sys.stderr):
        _repair(stream)


def _repair(stream: TextIO | Any) -> None:
    if hasattr(stream, "reconfigure"):
        if stream.isatty() and (encoding := terminal_encoding()) != "utf-8":
            stream.reconfigure(encoding=encoding)
        stream.reconfigure(errors=FALLBACK)


def readable(text: str) -> str:
    """Return what a person typed as text of Unicode: what was no UTF-8 becomes U+FFFD."""
    if text.isascii():
        return text
    try:
        data = text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        # A lone surrogate that stands for no byte: Windows has such file names.
        data = text.encode("utf-8", "replace")
    return data.decode("utf-8", "replace")


def read_text_input() -> str:
    """Return standard input, whatever the locale calls its encoding, as UTF-8 text."""
    # Piece by piece: a Ctrl-C that comes amid one long read of the library waits for its end.
    stream = cast("io.BufferedReader", sys.stdin.buffer)
    pieces = list(iter(lambda: stream.read1(READ_BYTES), b""))
    return b"".join(pieces).decode("utf-8-sig", "replace")


class _TextType(click.ParamType[str]):
    """An argument that is text, not a file: it arrives as Unicode that can be sent."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        del param, ctx
        return readable(str(value))


class _IdType(_TextType):
    """An id: like text, and not empty."""

    name = "id"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = super().convert(value, param, ctx).strip()
        if not text:
            self.fail("it is empty; `blockwire list` shows the ids that there are", param, ctx)
        if "/" in text:
            # The gateway would take it for a path of its own.
            self.fail(f"{text} is no id; `blockwire list` shows the ids that there are", param, ctx)
        return text


TEXT: Final = _TextType()
ID: Final = _IdType()
