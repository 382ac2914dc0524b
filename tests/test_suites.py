"""Suites are read in place; a machine without them skips, and CI without them fails."""

import base64
import zlib
from pathlib import Path

import pytest

from tests.suites import suite_json, suite_json_lines, suite_path, unpacked


@pytest.fixture
def suites(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BLOCKWIRE_SUITES", str(tmp_path))
    return tmp_path


def test_a_suite_is_found_where_the_variable_says(suites: Path) -> None:
    (suites / "cases.json").write_text('{"a": [1, "\\ud800"]}', encoding="utf-8")

    assert suite_path("cases.json") == suites / "cases.json"
    assert suite_json("cases.json") == {"a": [1, "\ud800"]}


def test_without_the_variable_suites_lie_beside_the_project(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("BLOCKWIRE_SUITES", raising=False)
    monkeypatch.setenv("CI", "false")

    with pytest.raises(pytest.skip.Exception, match=r"shared.suites.no-such-suite"):
        suite_path("no-such-suite")


def test_lines_that_are_blank_are_no_cases(suites: Path) -> None:
    (suites / "cases.jsonl").write_text('{"a": "\u2028"}\n\n2\n', encoding="utf-8")

    assert suite_json_lines("cases.jsonl") == [{"a": "\u2028"}, 2]


@pytest.mark.usefixtures("suites")
def test_an_absent_suite_is_skipped_with_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "false")

    with pytest.raises(pytest.skip.Exception, match=r"not found: .*absent\.json"):
        suite_json("absent.json")


@pytest.mark.usefixtures("suites")
def test_an_absent_suite_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")

    with pytest.raises(pytest.fail.Exception, match=r"not found: .*absent\.json"):
        suite_json("absent.json")


def test_packed_text_is_unpacked_at_any_depth() -> None:
    packed = {"z": base64.b64encode(zlib.compress("déjà vu".encode())).decode()}

    assert unpacked([{"a": packed, "z": 1}, 2]) == [{"a": "déjà vu", "z": 1}, 2]
