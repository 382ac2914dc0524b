"""What is said of an implementation: a verdict for each requirement, for people and for machines.

Spec: docs/spec/terminal/tools.md, "Verdicts".
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, Literal, NamedTuple, TypeAlias
from xml.sax.saxutils import escape, quoteattr

from blockwire.text import label_controls

__all__ = ["Finding", "Outcome", "Verdict", "collect", "junit_xml", "report_lines"]

Outcome: TypeAlias = Literal["pass", "fail", "not judged"]

DETAIL_CHARS_MAX: Final = 600
"""Of one failure; what differs comes first."""
FAILURES_SHOWN_MAX: Final = 3
"""Of one requirement in the text; JUnit holds them all."""

_NOT_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Finding(NamedTuple):
    """How one case went.

    Attributes:
        requirement: Id of a MUST in docs/spec.
        case: Which one: a name, unique in its file.
        outcome: How it went.
        detail: Why it failed, or why it was not judged.
    """

    requirement: str
    case: str
    outcome: Outcome
    detail: str = ""


class Verdict(NamedTuple):
    """What all cases of one requirement say together.

    Attributes:
        requirement: Its id.
        outcome: ``fail`` if one case failed, ``not judged`` if none was judged.
        findings: The cases, in order.
    """

    requirement: str
    outcome: Outcome
    findings: tuple[Finding, ...]

    @property
    def judged_count(self) -> int:
        """How many cases were judged."""
        return sum(finding.outcome != "not judged" for finding in self.findings)

    @property
    def passed_count(self) -> int:
        """How many cases passed."""
        return sum(finding.outcome == "pass" for finding in self.findings)


def collect(findings: Iterable[Finding]) -> tuple[Verdict, ...]:
    """Return a verdict for each requirement that a finding names, sorted by id."""
    grouped: dict[str, list[Finding]] = {}
    for finding in findings:
        grouped.setdefault(finding.requirement, []).append(finding)
    return tuple(
        Verdict(requirement, _together(grouped[requirement]), tuple(grouped[requirement]))
        for requirement in sorted(grouped)
    )


def _together(findings: Sequence[Finding]) -> Outcome:
    outcomes = {finding.outcome for finding in findings}
    if "fail" in outcomes:
        return "fail"
    return "pass" if "pass" in outcomes else "not judged"


_MARKS: Final[Mapping[Outcome, str]] = {"pass": "pass", "fail": "FAIL", "not judged": "  - "}


def report_lines(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """Yield the lines of the report; nothing in them can act on a terminal."""
    width = max((len(verdict.requirement) for verdict in verdicts), default=0)
    for verdict in verdicts:
        count = f"{verdict.passed_count} of {verdict.judged_count}"
        if verdict.outcome == "not judged":
            count = verdict.findings[0].detail
        yield _line(f"{_MARKS[verdict.outcome]}  {verdict.requirement:{width}}  {count}")
        failures = [finding for finding in verdict.findings if finding.outcome == "fail"]
        for finding in failures[:FAILURES_SHOWN_MAX]:
            yield _line(f"      {finding.case}: {_short(finding.detail)}")
        if len(failures) > FAILURES_SHOWN_MAX:
            yield f"      and {len(failures) - FAILURES_SHOWN_MAX} more"
    counts = {
        outcome: sum(verdict.outcome == outcome for verdict in verdicts) for outcome in _MARKS
    }
    yield (
        f"{counts['pass']} passed, {counts['fail']} failed, {counts['not judged']} not judged "
        f"(requirements)"
    )


def _line(text: str) -> str:
    return label_controls(text, breaks="label", tabs="label").rstrip()


def _short(text: str) -> str:
    return text if len(text) <= DETAIL_CHARS_MAX else f"{text[:DETAIL_CHARS_MAX]} ..."


def junit_xml(suite: str, verdicts: Sequence[Verdict]) -> str:
    """Return the verdicts as JUnit XML: one ``testcase`` a requirement."""
    counts = {
        outcome: sum(verdict.outcome == outcome for verdict in verdicts) for outcome in _MARKS
    }
    head = (
        f"<testsuite name={quoteattr(suite)} "
        f'tests="{len(verdicts)}" failures="{counts["fail"]}" errors="0" '
        f'skipped="{counts["not judged"]}">'
    )
    parts = ['<?xml version="1.0" encoding="UTF-8"?>', head]
    for verdict in verdicts:
        parts.extend(_testcase(suite, verdict))
    parts.append("</testsuite>\n")
    return "\n".join(parts)


def _testcase(suite: str, verdict: Verdict) -> Iterator[str]:
    begin = f"  <testcase classname={quoteattr(suite)} name={quoteattr(verdict.requirement)}"
    if verdict.outcome == "pass":
        yield f"{begin}/>"
        return
    yield f"{begin}>"
    if verdict.outcome == "not judged":
        yield f"    <skipped message={quoteattr(_xml(verdict.findings[0].detail))}/>"
    for finding in verdict.findings:
        if finding.outcome == "fail":
            message = quoteattr(_xml(_short(finding.case)))
            yield f"    <failure message={message}>{escape(_xml(finding.detail))}</failure>"
    yield "  </testcase>"


def _xml(text: str) -> str:
    return _NOT_XML.sub("\ufffd", label_controls(text))
