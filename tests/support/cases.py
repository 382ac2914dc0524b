"""Situations from public bug reports, by id; their texts and inputs are in the suites."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from tests.suites import suite_json_lines

__all__ = ["all_cases", "case", "case_input"]


@cache
def all_cases() -> dict[str, dict[str, Any]]:
    """Return every case by its id; skips where the suites are absent."""
    return {found["id"]: found for found in suite_json_lines("cases.jsonl")}


def case(case_id: str) -> pytest.MarkDecorator:
    """Mark a test as the one that proves a case."""
    return pytest.mark.case(case_id)


def case_input(case_id: str) -> Any:
    """Return the input of a case."""
    return all_cases()[case_id]["input"]
