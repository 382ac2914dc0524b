"""The conformance runner of terminal blocks, for tests: verdicts on a program in a pseudo-terminal.

Spec: docs/spec/terminal/tools.md::

    verdicts = judge_terminal(["./my-terminal-side"], env=os.environ)
    assert [it.requirement for it in verdicts if it.outcome == "fail"] == []
"""

from __future__ import annotations

from blockwire.conform import (
    Case,
    Finding,
    Verdict,
    choose_cases,
    judge_application,
    judge_terminal,
    junit_xml,
    load_cases,
    report_lines,
)

__all__ = [
    "Case",
    "Finding",
    "Verdict",
    "choose_cases",
    "judge_application",
    "judge_terminal",
    "junit_xml",
    "load_cases",
    "report_lines",
]
