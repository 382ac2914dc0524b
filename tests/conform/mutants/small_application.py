"""A program that shows its output in Blocks, in one file, with a switch for each mistake.

``python small_application.py [DEFECT ...]`` imports nothing of ours; see ``small_terminal.py``. After
each step it asks a query more and waits for the answer, so that it has heard of every error before.
"""

import base64
import json
import os
import re
import secrets
import select
import sys
import termios
import time
import tty

DEFECTS = frozenset(sys.argv[1:])
FRAME = re.compile(rb"\x1b\]9002;1;\d+;(\d+);([01]);([A-Za-z0-9+/=]+)\x1b\\")
DA1 = re.compile(rb"\x1b\[\?[0-9;]*c")


def has(defect):
    return defect in DEFECTS


class Line:
    """The terminal: frames out, replies in."""

    def __init__(self):
        self.held, self.replies, self.has_da1, self.asked = b"", [], False, 0

    def frame(self, message):
        source = json.dumps(message).encode()
        size = 1000 if has("cuts-frames-short") else 3072
        pieces = [source[at : at + size] for at in range(0, len(source), size)]
        end = b"\x07" if has("ends-frames-with-bel") else b"\x1b\\"
        return b"".join(
            b"\x1b]9002;1;1;%d;%d;%s%s" % (at, at < len(pieces) - 1, base64.b64encode(piece), end)
            for at, piece in enumerate(pieces)
        )

    def write(self, data):
        while data:
            data = data[os.write(1, data) :]

    def send(self, kind, **members):
        self.write(self.frame({"version": 1, "kind": kind, **members}))

    def read(self, within_s):
        if not select.select([0], [], [], max(within_s, 0))[0]:
            return False
        self.held += os.read(0, 65_536)
        for match in FRAME.finditer(self.held):
            self.replies.append(json.loads(base64.b64decode(match[3])))
        self.has_da1 = self.has_da1 or DA1.search(self.held) is not None
        last = max((match.end() for match in FRAME.finditer(self.held)), default=0)
        self.held = self.held[last:]
        return True

    def forget_answers(self):
        """Wait for the attributes, which come last, or for as long as anybody would."""
        end = time.monotonic() + 1
        while not self.has_da1 and os.isatty(0):
            if not self.read(end - time.monotonic()):
                return

    def ask(self, kind, **members):
        """Send a request and return its answer; errors that came before stay in ``replies``."""
        self.asked += 1
        request_id = "again" if has("repeats-request-ids") else f"{PROCESS}-{self.asked}"
        self.send(kind, request_id=request_id, body={}, **members)
        while True:
            for reply in self.replies:
                if reply.get("request_id") == request_id:
                    self.replies.remove(reply)
                    return reply
            self.read(5)


PROCESS = "7" if has("fixed-request-ids") else secrets.token_hex(12)


def negotiate(line):
    query = {"version": 1, "kind": "capability.query", "request_id": PROCESS, "body": {}}
    if has("long-query"):
        query["request_id"] += "-" + "x" * 200
    data = line.frame(query)
    if not has("asks-no-attributes"):
        data += b" " * has("blank-before-attributes") + b"\x1b[c"
    if has("opens-at-once"):
        data += line.frame({"version": 1, "kind": "context.open", "request_id": "o", "body": {}})
    if has("asks-in-two-writes"):
        line.write(data.removesuffix(b"\x1b[c"))
        time.sleep(0.01)
        data = b"\x1b[c"
    line.write(data)
    is_remote = bool({"SSH_CONNECTION", "SSH_TTY"} & os.environ.keys())
    cap = 2 if is_remote and not has("hurries-over-ssh") else 1
    end = time.monotonic() + (3 if has("waits-three-seconds") else cap)
    while time.monotonic() < end and line.read(end - time.monotonic()):
        for reply in line.replies:
            if reply["request_id"] == query["request_id"] or has("believes-any-reply"):
                line.replies.remove(reply)
                return reply["body"]["outcome"] == "supported" or has("takes-any-answer")
        if line.has_da1 and not has("waits-after-attributes"):
            return False
    return has("assumes-support")


class Block:
    """One Block, and what it holds."""

    def __init__(self, line, context_id, name):
        self.line, self.context_id, self.name, self.text, self.count = line, context_id, name, "", 0
        self.base = self.operation("append", lifecycle="mutable", content=self.content("Hello"))
        self.text = "Hello"
        self.settle()

    def content(self, text):
        kind = "text/markdown" if has("uses-unlisted-type") else "text/plain"
        return {"type": kind, "data": text}

    def operation(self, kind, **body):
        self.count += 1
        operation_id = "1" if has("repeats-operation-ids") else f"{id(self)}.{self.count}"
        context_id = "mine" if has("invents-context-ids") else self.context_id
        body = {"block_id": self.name, **body}
        if has("unknown-member"):
            body["note"] = "x"
        self.line.send(f"block.{kind}", operation_id=operation_id, context_id=context_id, body=body)
        if has("retransmits"):
            self.line.send(
                f"block.{kind}", operation_id=operation_id, context_id=context_id, body=body
            )
        if has("talks-between"):
            self.line.write(b"working\r\n")
        return operation_id

    def extend(self, text):
        if has("updates-only"):
            operation_id = self.operation("update", content=self.content(self.text + text))
        else:
            operation_id = self.operation("extend", base_operation_id=self.base, fragment=text)
        if not has("keeps-first-base"):
            self.base = operation_id
        self.text += text
        self.settle()

    def replace_suffix(self, retain, text):
        if has("counts-bytes"):
            retain += 5_000
        self.base = self.operation(
            "replace_suffix", base_operation_id=self.base, retain=retain, replacement=text
        )
        self.text = self.text[:retain] + text
        self.settle()

    def settle(self):
        """Wait until everything has been answered, and heal what did not match."""
        self.line.ask("capability.query")
        codes = [reply["body"]["code"] for reply in self.line.replies]
        self.line.replies.clear()
        if "content_state_mismatch" in codes and not has("never-heals"):
            for _time in range(1 + has("heals-twice")):
                text = "J" + self.text[1:] if has("heals-with-other-text") else self.text
                self.base = self.operation("update", content=self.content(text))


def main():
    is_deaf = os.environ.get("TERM", "") in ("", "dumb", "linux")
    is_terminal = os.isatty(0) and os.isatty(1)
    if (is_deaf and not has("asks-every-terminal")) or (not is_terminal and not has("asks-pipes")):
        print("Hello, world")
        return
    line = Line()
    before = termios.tcgetattr(0) if is_terminal else None
    if is_terminal and not has("leaves-echo-on"):
        tty.setcbreak(0, termios.TCSANOW)
    try:
        if not is_terminal:
            line.write(
                line.frame(
                    {"version": 1, "kind": "capability.query", "request_id": PROCESS, "body": {}}
                )
            )
        elif negotiate(line):
            show(line)
        elif not has("shows-nothing"):
            line.write(b"Hello, world\r\n")
        if not has("leaves-late-answers"):
            line.forget_answers()
    finally:
        if before is not None and not has("leaves-modes"):
            termios.tcsetattr(0, termios.TCSAFLUSH if line.has_da1 else termios.TCSADRAIN, before)
    if has("leaves-late-answers"):
        # As whoever reads next would: with echo.
        line.forget_answers()


def show(line):
    opened = line.ask("context.open")
    if opened["body"]["outcome"] != "opened" and not has("goes-on-without-context"):
        line.write(b"Hello, world\r\n")
        return
    context_id = opened.get("context_id", "none")
    block = Block(line, context_id, "b1")
    for word in (", ", "wor", "ld", "!" * 3_000):
        block.extend(word)
    block.replace_suffix(12, ".")
    if not has("never-seals"):
        block.operation("seal")
    if has("extends-sealed"):
        block.extend("x")
    Block(line, context_id, "b1" if has("repeats-block-ids") else "b2")
    if not has("never-closes"):
        line.ask("context.close", context_id=context_id)
    if has("writes-after-close"):
        block.operation("seal")


main()
