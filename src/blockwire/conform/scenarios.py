"""What an application is led through, and what is right there.

Spec: docs/spec/terminal/tools.md, "How an application is judged".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from blockwire.conform.replies import WINDOWS, Windows
from blockwire.conform.scripted import Fault, Script, ScriptedTerminal
from blockwire.conform.verdicts import Outcome
from blockwire.conform.wire import Message

__all__ = ["REQUIREMENTS", "SCENARIOS", "Played", "Scenario"]

CAP_S: Final = 1.0
REMOTE_CAP_S: Final = 2.0
"""How long an answer is waited for; the second where SSH_CONNECTION is set."""
_REMOTE_ANSWER_S: Final = 1.4
_REMOTE_ANSWER_S_MAX: Final = 1.75
"""A runner that was slower cannot say that the answer came in time."""
_LATE_S_MAX: Final = CAP_S + 0.9
"""The same of an answer that is late: the program waits for the cap once more before it ends."""
_REMOTE: Final = MappingProxyType({"SSH_CONNECTION": "192.0.2.7 50022 192.0.2.8 22"})

# check -> requirement of docs/spec/terminal
REQUIREMENTS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "query": "terminal:application:one-write",
        "answer": "terminal:application:correlated",
        "fence": "terminal:application:fence",
        "cap": "terminal:application:cap",
        "no frames": "terminal:application:no-frames",
        "fallback": "terminal:application:fallback",
        "no query": "terminal:application:no-query",
        "ids": "terminal:application:ids",
        "split": "terminal:application:any-split",
        "late": "terminal:application:late",
        "healing": "terminal:application:heal",
        "modes": "terminal:application:restore",
        "content": "terminal:application:converges",
        "bases": "terminal:operation:base",
        "contexts": "terminal:context:refuses",
        "messages": "terminal:message:closed",
        "frames": "terminal:write:cuts",
        "adjacent": "terminal:write:adjacent",
        "terminators": "terminal:write:seven-bit",
    }
)


class Played(NamedTuple):
    """How a scenario went.

    Attributes:
        terminal: What was heard.
        has_ended: Whether the program ended in time.
        are_modes_restored: Whether its terminal was left as it was found.
    """

    terminal: ScriptedTerminal
    has_ended: bool
    are_modes_restored: bool


Look: TypeAlias = tuple[str, Outcome, str]
"""Check, outcome, and why."""
Judge: TypeAlias = Callable[[Played], Iterator[Look]]


class Scenario(NamedTuple):
    """One run of the program.

    Attributes:
        name: What the terminal does.
        script: The same for the runner.
        judge: Looks at what only this scenario shows.
        checks: Those that it gives an occasion for; each is passed unless something speaks against it.
        env: Changes of the environment.
        is_asked: Whether a query has to come.
    """

    name: str
    script: Script
    judge: Judge
    checks: tuple[str, ...]
    env: Mapping[str, str] = MappingProxyType({})
    is_asked: bool = True


_WRITING: Final = ("query", "frames", "adjacent", "terminators", "messages")
_ASKING: Final = (*_WRITING, "no frames")
_WORKING: Final = (*_ASKING, "ids", "bases", "contexts", "content")


def _works(played: Played) -> Iterator[Look]:
    """It was told that it is supported, so it has to use it."""
    if played.terminal.count("block.append"):
        return
    for check in ("bases", "contexts", "content"):
        yield check, "not judged", "the program appended no Block"


def _falls_back(played: Played) -> Iterator[Look]:
    text = played.terminal.ordinary.replace(b"\x1b[c", b"").strip()
    if not played.has_ended:
        yield "fallback", "not judged", "the program did not end"
    elif text:
        yield "fallback", "pass", ""
    else:
        yield "fallback", "fail", "it wrote nothing though Blocks are not supported"


def _swallows(check: str) -> Judge:
    """Look whether an answer was shown on the screen, as the terminal itself echoes what is typed."""

    def judge(played: Played) -> Iterator[Look]:
        shown = played.terminal.ordinary
        is_shown = b"9002;" in shown or b"?62;22c" in shown
        detail = f"an answer was shown on the screen: {shown[-80:]!r}" if is_shown else ""
        yield check, "fail" if is_shown else "pass", detail

    return judge


def _swallows_late(played: Played) -> Iterator[Look]:
    if played.terminal.query is not None and played.terminal.told_after_s is None:
        yield "late", "not judged", "the program had ended before the answer came"
    elif (played.terminal.told_after_s or 0) > _LATE_S_MAX:
        yield "late", "not judged", "the runner was too slow to answer in time"
    else:
        yield from _swallows("late")(played)


def _waits_remotely(played: Played) -> Iterator[Look]:
    """Look whether an answer counts that comes between the two caps."""
    terminal = played.terminal
    if terminal.query is None:
        yield "cap", "not judged", "no query came"
    elif len(terminal.heard) > 1:
        yield "cap", "pass", ""
    elif (terminal.told_after_s or 0) > _REMOTE_ANSWER_S_MAX:
        yield "cap", "not judged", "the runner was too slow to answer in time"
    else:
        detail = f"an answer after {_REMOTE_ANSWER_S:g} s did not count, over ssh"
        yield "cap", "fail", detail


def _obeys(check: str) -> Judge:
    """Say of the rule behind a "no" what was said of the frames after it."""

    def judge(played: Played) -> Iterator[Look]:
        faults = [fault for fault in played.terminal.faults if fault.check == "no frames"]
        if played.terminal.query is None:
            yield check, "not judged", "no query came"
        else:
            yield check, "fail" if faults else "pass", faults[0].detail if faults else ""

    return judge


def _restores(played: Played) -> Iterator[Look]:
    if not played.has_ended:
        yield "modes", "not judged", "the program did not end"
    elif played.are_modes_restored:
        yield "modes", "pass", ""
    else:
        yield "modes", "fail", "the modes of the terminal are not what they were"


def _heals(played: Played) -> Iterator[Look]:
    terminal = played.terminal
    if not terminal.refused:
        yield "healing", "not judged", "the program extended no Block"
    elif terminal.healed_count:
        yield "healing", "pass", ""
    elif _is_sealed_unaware(terminal):
        yield "healing", "not judged", "the program had sealed the Block before it could hear of it"
    elif played.has_ended:
        yield "healing", "fail", "no update came after a content state that did not match"
    else:
        yield "healing", "not judged", "the program did not end"


def _is_sealed_unaware(terminal: ScriptedTerminal) -> bool:
    """Whether the Block was sealed before the program can have heard that it differs."""
    refused = terminal.refused[0]
    begin = terminal.heard.index(refused) + 1
    return any(
        message["kind"] == "block.seal"
        and message["body"]["block_id"] == refused["body"]["block_id"]
        for message in terminal.heard[begin : terminal.has_heard_at]
    )


def _asks_nothing(played: Played) -> Iterator[Look]:
    terminal = played.terminal
    if terminal.heard or terminal.is_asked_for_da1:
        yield "no query", "fail", "it asked a terminal that it must not ask"
    else:
        yield "no query", "pass", ""


def _all(*judges: Judge) -> Judge:
    def judge(played: Played) -> Iterator[Look]:
        for one in judges:
            yield from one(played)

    return judge


def _refuse_first(kinds: frozenset[str], code: str) -> Callable[[], Script]:
    def script() -> Script:
        refused: list[Message] = []

        def refuse(message: Message) -> str | None:
            if refused or message["kind"] not in kinds:
                return None
            refused.append(message)
            return code

        return Script(refuse=refuse)

    return script


_CHANGES: Final = frozenset({"block.extend", "block.replace_suffix"})


def scenarios(windows: Windows = WINDOWS) -> tuple[Scenario, ...]:
    """Return them, with fresh scripts."""
    mismatch = _refuse_first(_CHANGES, "content_state_mismatch")()
    exhausted = _refuse_first(_CHANGES, "resource_exhausted")()
    works = _all(_works, _restores, _swallows("split"))
    mends = _all(_works, _heals, _restores)

    def falls_back(check: str, swallows: Judge = _swallows("split")) -> Judge:  # noqa: B008
        return _all(_falls_back, _restores, swallows, _obeys(check))

    late = Script(answers_after_s=CAP_S + windows.late_s, is_too_late=True)
    remote = Script(answers_after_s=_REMOTE_ANSWER_S)

    silent = Script(answer="none", has_da1=False)
    return (
        Scenario("supported", Script(), works, _WORKING),
        Scenario("supported, amid keystrokes", Script(keys=b"x"), works, _WORKING),
        Scenario("supported, byte by byte", Script(is_split=True), works, _WORKING),
        Scenario("unsupported", Script(answer="unsupported"), falls_back("answer"), _ASKING),
        Scenario("an error", Script(answer="error"), falls_back("answer"), _ASKING),
        Scenario("attributes alone", Script(answer="none"), falls_back("fence"), _ASKING),
        Scenario(
            "attributes, then supported",
            Script(is_da1_first=True, keys=b"x"),
            # Who has decided may be gone, and then it is the terminal that shows what comes late.
            _all(_falls_back, _restores, _obeys("fence")),
            _ASKING,
        ),
        Scenario("supported to others", Script(answer="other id"), falls_back("answer"), _ASKING),
        Scenario("silence", silent, falls_back("cap"), _ASKING),
        Scenario("both too late", late, falls_back("cap", _swallows_late), _ASKING),
        Scenario("in time over ssh", remote, _waits_remotely, _ASKING, _REMOTE),
        Scenario("no Context", Script(open_code="resource_exhausted"), _restores, _ASKING),
        Scenario("a state does not match", mismatch, mends, _WORKING),
        Scenario("a change is refused", exhausted, mends, _WORKING),
        *(
            Scenario(
                f"TERM is {term or 'empty'}",
                silent,
                _asks_nothing,
                (),
                MappingProxyType({"TERM": term}),
                is_asked=False,
            )
            for term in ("dumb", "linux", "")
        ),
    )


SCENARIOS: Final = tuple(scenario.name for scenario in scenarios())


def looks(scenario: Scenario, played: Played) -> Iterator[Look]:
    """Yield what a run says of each requirement: faults, then what the scenario looks for."""
    blamed: dict[str, Fault] = {}
    for fault in played.terminal.faults:
        blamed.setdefault(fault.check, fault)
    own = list(scenario.judge(played))
    asked = played.terminal.query is not None
    for check, fault in blamed.items():
        yield check, "fail", fault.detail
    if scenario.is_asked and not asked:
        yield "query", "fail", "no query came"
    judged = {check for check, _outcome, _detail in own}
    for check in scenario.checks:
        if check in blamed or check in judged or (not asked and check != "frames"):
            continue
        yield check, "pass", ""
    yield from (look for look in own if look[0] not in blamed or look[1] == "fail")
