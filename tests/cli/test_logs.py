"""Log lines: bounded, one a record, and without content unless somebody asks for it."""

import io
import logging
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from blockwire.cli.logs import LINE_CHARS_MAX, LogFormat, LogFormatter, set_up_logging
from blockwire.jsontext import decode_json

SECRET = "the very text of a message"


def record(
    message: str = "a thing happened",
    *arguments: object,
    name: str = "blockwire.x",
    members: Any = None,
    error: BaseException | None = None,
) -> logging.LogRecord:
    made = logging.LogRecord(name, logging.INFO, "x.py", 1, message, arguments, None, "work")
    made.created = 1_780_000_000.25
    if members is not None:
        made.members = members
    if error is not None:
        made.exc_info = (type(error), error, error.__traceback__)
    return made


def raised() -> BaseException:
    try:
        try:
            raise KeyError(SECRET)  # noqa: TRY301 - a cause
        except KeyError as error:
            raise ValueError(SECRET) from error
    except ValueError as error:
        return error


TEXTS: list[tuple[logging.LogRecord, str]] = [
    (record(), "2026-05-28T20:26:40.250Z INFO blockwire.x: a thing happened"),
    (record("turn %s: %s", "turn_1", "store_full"),
     "2026-05-28T20:26:40.250Z INFO blockwire.x: turn turn_1: store_full"),
    (record("request", members={"status": 200, "ms": 1.5, "caller": "a b", "code": ""}),
     '2026-05-28T20:26:40.250Z INFO blockwire.x: request status=200 ms=1.5 caller="a b" code=""'),
    (record("two\nlines \x1b[2J", members={"caller": 'x\n"=y'}),
     '2026-05-28T20:26:40.250Z INFO blockwire.x: two␊lines ␛[2J caller="x\\n\\"=y"'),
]  # fmt: skip


@pytest.mark.parametrize(("given", "line"), TEXTS)
def test_a_line_of_text(given: logging.LogRecord, line: str) -> None:
    assert LogFormatter("text").format(given) == line


def test_a_line_of_json() -> None:
    line = LogFormatter("json").format(record("request", members={"status": 200, "ms": 1.5}))

    assert decode_json(line.encode()) == {
        "ts": "2026-05-28T20:26:40.250Z",
        "level": "info",
        "logger": "blockwire.x",
        "message": "request",
        "status": 200,
        "ms": 1.5,
    }


@pytest.mark.requirement("gateway:operations:log-content")
@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(
    "given", [record("a route failed", error=raised()), record(SECRET, name="some.library")]
)
def test_no_text_of_an_exception_or_a_library_is_shown(
    form: LogFormat, given: logging.LogRecord
) -> None:
    line = LogFormatter(form).format(given)

    assert SECRET not in line
    assert "\n" not in line
    if given.exc_info:
        assert "ValueError < KeyError" in line
        assert "test_logs.py:" in line
        assert "/tests/" not in line


@pytest.mark.parametrize("form", ["text", "json"])
def test_the_level_debug_shows_what_libraries_say_without_credentials(form: LogFormat) -> None:
    formatter = LogFormatter(form, shows_texts=True)
    key = "sk-ant-api03-" + "Ab1" * 25

    for text in (SECRET, key):
        line = formatter.format(record(text, name="some.library"))

        assert (SECRET in line) == (text == SECRET)
        assert key not in line
        assert "\n" not in line
    assert SECRET not in formatter.format(record("a route failed", error=ValueError(SECRET)))


@pytest.mark.requirement("gateway:operations:log-bound")
@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(
    "given",
    [
        record("x" * 1_000_000),
        record("x", members={f"m{i}": "\x00" * 10_000 for i in range(1_000)}),
        record("x", error=ExceptionGroup("x", [ValueError("y" * 100_000)])),
    ],
)
def test_a_line_is_bounded_and_stays_what_it_is(form: LogFormat, given: logging.LogRecord) -> None:
    line = LogFormatter(form, shows_texts=True).format(given)

    assert len(line) <= LINE_CHARS_MAX
    assert line.isprintable()
    if form == "json":
        assert isinstance(decode_json(line.encode()), dict)


def test_an_exception_that_is_its_own_cause_ends() -> None:
    error = ValueError("x")
    other = KeyError("y")
    error.__context__, other.__context__ = other, error

    assert "ValueError < KeyError" in LogFormatter().format(record(error=error))


@pytest.fixture
def root() -> Iterator[logging.Logger]:
    logger = logging.getLogger()
    level, handlers = logger.level, list(logger.handlers)
    logger.handlers[:] = [h for h in handlers if h.get_name() != "blockwire-log"]
    yield logger
    logger.setLevel(level)
    logger.handlers[:] = handlers


def test_setting_up_again_changes_form_and_level_and_adds_no_second_line(
    root: logging.Logger, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)

    set_up_logging("info")
    set_up_logging("warning", "json")
    logging.getLogger("blockwire.x").info("not this")
    logging.getLogger("blockwire.x").warning("this")

    (line,) = stream.getvalue().splitlines()
    assert decode_json(line.encode())["message"] == "this"  # type: ignore[index,call-overload]
    assert root.level == logging.WARNING
