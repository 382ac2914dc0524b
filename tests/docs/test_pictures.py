"""The recordings and pictures of the terminal programs are what ``docs/pictures/record.py`` makes."""

import re
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from blockwire.jsontext import decode_json
from tests.suites import PROJECT

PICTURES = PROJECT / "docs" / "pictures"
NAMES = ("chat", "term")
ALL_BYTES_MAX = 200_000
RECORD_S = 240

# What is told of how long something took.
DURATION = re.compile(r"\b\d+ s\b")
ERASED = re.compile(r"\x1b\[[123]J|\x1bc")


def recording(path: Path) -> tuple[Any, list[Any]]:
    header, *events = map(decode_json, path.read_bytes().splitlines())
    return header, events


def picture_text(path: Path) -> str:
    return "\n".join(
        "".join(element.itertext())
        for element in ET.parse(path).iter()
        if element.tag.endswith("}text")
    )


def test_they_are_small() -> None:
    files = [PICTURES / f"{name}.{suffix}" for name in NAMES for suffix in ("cast", "svg")]

    assert sum(path.stat().st_size for path in files) < ALL_BYTES_MAX


@pytest.mark.parametrize("name", NAMES)
def test_a_recording_is_an_asciicast_of_one_run_from_shell_to_shell(name: str) -> None:
    header, events = recording(PICTURES / f"{name}.cast")

    assert (header["version"], header["width"], header["height"]) == (2, 88, 32)
    assert all(one[0] <= next_one[0] <= one[0] + 1.001 for one, next_one in pairwise(events))
    assert {kind for _at, kind, _text in events} <= {"o", "r"}
    shown = "".join(text for _at, kind, text in events if kind == "o")
    assert shown.startswith("$ ")
    assert shown.endswith("$ ")
    assert ERASED.search(shown) is None
    # No folder of whoever recorded it.
    assert "/tmp" not in shown
    assert "/home" not in shown


@pytest.mark.parametrize(
    ("name", "texts"),
    [
        ("chat", ("bits per item", "Twelve coins, one is false.", "Are three weighings enough?")),
        ("term", ("copy mode: selecting, item: 4 of 11", "▼ new output below")),
    ],
)
def test_a_picture_needs_nothing_from_elsewhere(name: str, texts: tuple[str, ...]) -> None:
    path = PICTURES / f"{name}.svg"
    source = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "")

    assert re.search(r"https?:|url\(|href|<script|<image", source) is None
    shown = picture_text(path)
    assert [text for text in texts if text not in shown] == []


@pytest.mark.slow
@pytest.mark.timeout(RECORD_S + 15)
@pytest.mark.parametrize("name", NAMES)
def test_recording_it_again_gives_the_same_picture(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(PICTURES / "record.py"), "--into", str(tmp_path), name]

    subprocess.run(command, check=True, timeout=RECORD_S)

    recorded, kept = (
        DURATION.sub("N s", (folder / f"{name}.svg").read_text(encoding="utf-8"))
        for folder in (tmp_path, PICTURES)
    )
    assert recorded == kept, "it looks otherwise now: python docs/pictures/record.py"
    _header, events = recording(tmp_path / f"{name}.cast")
    assert events[-1][2].endswith("$ ")
