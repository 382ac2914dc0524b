"""A terminal in one file, with a switch for each mistake that a terminal can make on the wire.

``python small_terminal.py [DEFECT ...]`` reads an application's bytes and writes replies. It holds
text/plain only, shows nothing, and imports nothing of ours: it is a program that others might have
written, right without an argument and wrong in one way with one.
"""

import base64
import json
import os
import re
import sys
import unicodedata

DEFECTS = frozenset(sys.argv[1:])


def has(defect):
    return defect in DEFECTS


BEGIN = b"\x1b]9002;"
STOP = re.compile(rb"\x1b\\|\x1b(?=[^\\])|[\x07\x18\x1a]")
FIELDS = re.compile(rb"1;([1-9]\d{0,9});(0|[1-9]\d{0,2});([01]);([A-Za-z0-9+/=]+)\Z")
LOOSE_FIELDS = re.compile(rb"1;0*([1-9]\d{0,9});(\d{1,3});([01]);([A-Za-z0-9+/=]+)\Z")
CODES_OF_OPERATIONS = (
    "block.append block.update block.extend block.replace_suffix block.seal".split()
)


class Refused(Exception):
    """The code that is answered."""


# frames -----------------------------------------------------------------------------------
class Reader:
    """Bytes to JSON texts."""

    def __init__(self):
        self.held, self.pieces, self.frame_id, self.tail = b"", [], 0, b""

    def feed(self, data):
        self.held += data
        while self.held:
            start = self.held.find(b"\x1b]" if not has("ignores-nested-frame") else BEGIN)
            if start != 0:
                # Whatever stands between fragments ends the assembly.
                cut = start if start > 0 else len(self.held) - self.held.endswith(b"\x1b")
                if cut and not has("keeps-assembly-over-text"):
                    self.pieces = []
                yield from self.questions(self.held[:cut])
                self.held = self.held[cut:]
                if start < 0:
                    return
            if len(self.held) < len(BEGIN) and BEGIN.startswith(self.held):
                return
            closer = STOP.search(self.held, 2)
            while closer and self.goes_on(closer[0]):
                closer = STOP.search(self.held, closer.end())
            if closer is None:
                return
            content, mark = self.held[2 : closer.start()], closer[0]
            self.held = self.held[closer.start() if mark == b"\x1b" else closer.end() :]
            if content.startswith(BEGIN[2:]) or content == BEGIN[2:-1]:
                sources = list(self.frame(content[len(BEGIN) - 2 :], mark, len(content)))
                if not sources and has("reports-bad-frames"):
                    yield "report"
                yield from sources
            else:
                self.pieces = []

    def questions(self, data):
        """Yield once for each request for the attributes, which may be cut anywhere."""
        self.tail += data
        asked = list(re.finditer(rb"\x1b\[0?c", self.tail))
        self.tail = self.tail[asked[-1].end() if asked else 0 :][-4:]
        for _match in asked:
            yield "attributes"

    def goes_on(self, mark):
        if mark in b"\x18\x1a" and has("ignores-cancel"):
            return True
        return mark == b"\x1b" and has("ignores-nested-frame")

    def frame(self, content, mark, length):
        match = (LOOSE_FIELDS if has("accepts-leading-zero") else FIELDS).match(content)
        is_ended = mark == b"\x1b\\" or (mark == b"\x07" and has("accepts-bel"))
        if has("ignores-cancel"):
            content = content.translate(None, b"\x18\x1a")
            match = FIELDS.match(content)
        is_long = length > 4120 and not has("accepts-overlong")
        pieces, self.pieces = self.pieces, []
        if match is None or not is_ended or is_long:
            return
        frame_id, index, more = int(match[1]), int(match[2]), match[3] == b"1"
        try:
            piece = base64.b64decode(match[4], validate=True)
        except ValueError:
            return
        if base64.b64encode(piece) != match[4] and not has("accepts-uncanonical-base64"):
            return
        if index == 0:
            pieces = []
        is_next = index == len(pieces) and (index == 0 or frame_id == self.frame_id)
        if has("accepts-any-index"):
            is_next = True
        is_sized = 0 < len(piece) <= 3072 and (len(piece) == 3072 or not more)
        if has("accepts-small-fragments"):
            is_sized = True
        if not is_next or not is_sized or index > 341 or frame_id >= 2**31:
            return
        self.frame_id = frame_id
        pieces.append(piece)
        if more:
            self.pieces = pieces
        elif sum(map(len, pieces)) <= 1_048_576:
            yield b"".join(pieces)


# JSON -------------------------------------------------------------------------------------
def members(pairs):
    value = dict(pairs)
    if len(value) != len(pairs) and not has("accepts-duplicates"):
        raise ValueError
    return value


def no_constant(_name):
    raise ValueError


def number(text):
    """Return an integer; what is vast is infinite, and no valid message holds that."""
    return int(text) if len(text.lstrip("-")) <= 4_300 else float("inf")


def is_vast(value):
    if isinstance(value, dict):
        return any(map(is_vast, value.values()))
    if isinstance(value, list):
        return any(map(is_vast, value))
    return isinstance(value, float) and value in (float("inf"), float("-inf"))


DECODER = json.JSONDecoder(
    object_pairs_hook=members, parse_constant=no_constant, parse_float=float, parse_int=number
)


def depth(value):
    if isinstance(value, dict):
        return 1 + max(map(depth, value.values()), default=0)
    return 1 + max(map(depth, value), default=0) if isinstance(value, list) else 0


def has_surrogate(value):
    if isinstance(value, dict):
        return any(has_surrogate(it) for pair in value.items() for it in pair)
    if isinstance(value, list):
        return any(map(has_surrogate, value))
    return isinstance(value, str) and any("\ud800" <= it <= "\udfff" for it in value)


def parse(source):
    """Return an object; ValueError for everything else."""
    text = source.decode("utf-8", "replace" if has("accepts-bad-utf8") else "strict")
    value = DECODER.decode(
        text.strip(" \t\r\n") if not has("accepts-bom") else text.strip("\ufeff \t\r\n")
    )
    if not isinstance(value, dict):
        raise ValueError
    if depth(value) > 64 and not has("accepts-any-depth"):
        raise ValueError
    if has_surrogate(value) and not has("accepts-surrogates"):
        raise ValueError
    return value


# messages ---------------------------------------------------------------------------------
def is_id(value):
    return isinstance(value, str) and value != ""


def is_integer(value, low, high):
    if has("accepts-floats") and isinstance(value, float):
        return value == int(value) and low <= value <= high
    return type(value) is int and low <= value <= high


def is_record(value, **checks):
    return isinstance(value, dict) and all(
        name in checks and checks[name](it) for name, it in value.items()
    )


PALETTE = "black red green yellow blue magenta cyan white".split()
NAMES = {*PALETTE, *(f"bright_{name}" for name in PALETTE)}
ATTRIBUTES = {"bold", "dim", "italic", "underline", "strikethrough", "inverse"}


def is_color(value):
    return isinstance(value, str) and (value in NAMES or bool(re.fullmatch("#[0-9a-f]{6}", value)))


def is_attributes(value):
    known = isinstance(value, list) and all(
        isinstance(it, str) and it in ATTRIBUTES for it in value
    )
    return known and len(set(value)) == len(value)


def is_string(value):
    return isinstance(value, str)


def is_style(value):
    return is_record(
        value, foreground=is_color, background=is_color, attributes=is_attributes, link=is_string
    )


def is_span(value):
    return is_record(value, text=is_string, style=is_style) and "text" in value


def is_spans(value):
    return isinstance(value, list) and all(map(is_span, value))


def one_of(*names):
    return lambda value: isinstance(value, str) and value in names


def is_layout(value):
    return is_record(
        value,
        wrap=one_of("word", "character", "none"),
        align=one_of("left", "center", "right"),
        first_prefix=is_spans,
        rest_prefix=is_spans,
        fill=is_style,
    )


def is_line(value):
    return is_record(value, spans=is_spans, layout=is_layout) and "spans" in value


def is_replacement(value):
    if isinstance(value, list):
        return all(map(is_span, value)) or all(map(is_line, value))
    return isinstance(value, str)


def is_fragment(value):
    return is_replacement(value) and (len(value) > 0 or has("accepts-empty-fragment"))


def is_content(value):
    if (
        not isinstance(value, dict)
        or not closed(value, {"type", "data"})
        or not is_id(value["type"])
    ):
        return False
    return value["type"] != "text/plain" or isinstance(value["data"], str)


def closed(value, names):
    if has("accepts-unknown-members"):
        return value.keys() >= names
    return value.keys() == names


BODIES = {
    "block.append": {
        "block_id": is_id,
        "lifecycle": lambda it: it in ("mutable", "sealed"),
        "content": is_content,
    },
    "block.update": {"block_id": is_id, "content": is_content},
    "block.extend": {"block_id": is_id, "base_operation_id": is_id, "fragment": is_fragment},
    "block.replace_suffix": {
        "block_id": is_id,
        "base_operation_id": is_id,
        "retain": lambda it: is_integer(it, 0, 2**53 - 1),
        "replacement": is_replacement,
    },
    "block.seal": {"block_id": is_id},
    "capability.query": {},
    "context.open": {},
    "context.close": {},
}
IDS = {
    **dict.fromkeys(CODES_OF_OPERATIONS, {"operation_id", "context_id"}),
    "capability.query": {"request_id"},
    "context.open": {"request_id"},
    "context.close": {"request_id", "context_id"},
}


def is_valid(message):
    checks, ids = BODIES[message["kind"]], IDS[message["kind"]]
    body = message.get("body")
    if is_vast(message) and not has("accepts-vast-numbers"):
        return False
    if not closed(message, {"version", "kind", "body", *ids}):
        return False
    if not isinstance(body, dict) or not closed(body, set(checks)):
        return False
    return all(check(body[name]) for name, check in checks.items())


# the session ------------------------------------------------------------------------------
class Terminal:
    def __init__(self):
        self.outcomes, self.contexts, self.opened, self.operation_ids = {}, {}, 0, set()

    def receive(self, source):
        try:
            message = parse(source)
        except (ValueError, RecursionError):
            return None
        kind = message.get("kind")
        if not isinstance(kind, str) or kind not in IDS:
            if has("answers-responses") and is_id(message.get("request_id")):
                return self.control({"kind": "context.open", **message}, failed("invalid_message"))
            return None
        if not all(is_id(message.get(name)) for name in IDS[kind]):
            return None
        version = message.get("version")
        if not is_integer(version, 1, 2**31 - 1):
            return None
        if version != 1:
            if kind != "capability.query" or not is_valid(message) or has("ignores-other-versions"):
                return None
            return self.control(message, {"outcome": "unsupported"})
        return (self.operation if kind in CODES_OF_OPERATIONS else self.request)(message)

    def request(self, message):
        request_id, kind = message["request_id"], message["kind"]
        if has("folds-request-ids"):
            request_id = request_id.casefold()
        if not is_valid(message):
            body = failed("invalid_message")
            if not has("forgets-rejected-requests"):
                self.outcomes.setdefault(request_id, (message, body, None))
            return None if has("ignores-invalid") else self.control(message, body)
        if request_id in self.outcomes:
            known, body, context_id = self.outcomes[request_id]
            if not has("repeats-requests"):
                if known != message and not has("ignores-conflicts"):
                    return self.control(message, failed("request_id_conflict"))
                return self.control(message, body, context_id)
        body, context_id = self.perform(kind, message)
        if body["outcome"] != "error" or not has("forgets-rejected-requests"):
            self.outcomes[request_id] = (message, body, context_id)
        return self.control(message, body, context_id)

    def perform(self, kind, message):
        if kind == "capability.query":
            listed = ["text/plain"] if has("lists-text-plain") else []
            return {"outcome": "supported", "optional_content_types": listed}, None
        if kind == "context.open":
            self.opened += 1
            context_id = f"ctx-{1 if has('repeats-context-ids') else self.opened}"
            if has("names-contexts-as-others") and self.opened == 1:
                context_id = "nowhere"
            if has("holds-eight-contexts"):
                if sum(it["is_open"] for it in self.contexts.values()) >= 8:
                    return failed("resource_exhausted"), None
            self.contexts[context_id] = {"is_open": True, "blocks": {}, "ids": set()}
            return {"outcome": "opened"}, context_id
        context = self.contexts.get(message["context_id"])
        if context is None or (not context["is_open"] and has("refuses-second-close")):
            return failed("context_not_open"), None
        if not has("goes-on-after-close"):
            context["is_open"] = False
        return {"outcome": "closed"}, None

    def control(self, message, body, context_id=None):
        kind = message["kind"] + (".response" if message["kind"] != "capability.query" else "")
        reply = {
            "version": 1 if has("answers-in-version-1") else message["version"],
            "kind": "capability.response" if message["kind"] == "capability.query" else kind,
            "request_id": message["request_id"],
            "body": body,
        }
        if message["kind"] == "context.close":
            context_id = message["context_id"]
        return reply | ({"context_id": context_id} if context_id else {})

    def operation(self, message):
        try:
            if not is_valid(message):
                self.use_up(message)
                if has("ignores-invalid"):
                    return None
                raise Refused("invalid_message")
            self.change(message)
        except Refused as refused:
            reply = {name: message[name] for name in ("version", "operation_id", "context_id")}
            body = {"code": str(refused)}
            if has("quotes-requests"):
                body["message"] = f"cannot do {message['body']}"
            if has("quotes-ids"):
                body["message"] = f"cannot do {message['operation_id']}"
            return reply | {"kind": "protocol.error", "body": body}
        return None

    def use_up(self, message):
        context = self.contexts.get(message["context_id"])
        if context is not None and context["is_open"]:
            self.used(context).add(message["operation_id"])

    def used(self, context):
        return self.operation_ids if has("shares-operation-ids") else context["ids"]

    def change(self, message):
        context, kind, body = (
            self.contexts.get(message["context_id"]),
            message["kind"],
            message["body"],
        )
        if context is None or not context["is_open"]:
            raise Refused("context_not_open")
        used, operation_id = self.used(context), message["operation_id"]
        if has("normalises-operation-ids"):
            operation_id = unicodedata.normalize("NFC", operation_id).strip()
        if operation_id in used and not has("accepts-used-operation-ids"):
            raise Refused("operation_id_reused")
        if not has("frees-failed-operation-ids"):
            used.add(operation_id)
        blocks, block_id = context["blocks"], body["block_id"]
        if kind == "block.append":
            if block_id in blocks and not has("accepts-used-block-ids"):
                raise Refused("block_id_reused")
            if has("spends-failed-block-ids"):
                blocks[block_id] = {"state": None, "text": "", "is_sealed": True}
            self.check_type(body)
            blocks[block_id] = {
                "is_sealed": body["lifecycle"] == "sealed",
                "text": body["content"]["data"],
                "state": operation_id,
            }
            used.add(operation_id)
            return
        if block_id not in blocks:
            raise Refused("block_not_found")
        block = blocks[block_id]
        if "base_operation_id" in body and has("checks-base-first"):
            self.check_base(block, body)
        if block["is_sealed"] and not (kind == "block.seal" and has("seals-twice")):
            if not (kind == "block.update" and has("updates-sealed")):
                raise Refused("block_sealed")
        getattr(self, kind.removeprefix("block."))(block, body)
        used.add(operation_id)
        if kind != "block.seal" or has("advances-on-seal"):
            if not (kind == "block.update" and has("keeps-state-on-update")):
                block["state"] = operation_id

    def check_type(self, body):
        if body["content"]["type"] != "text/plain" and not has("accepts-any-type"):
            raise Refused("unsupported_content_type")

    def check_base(self, block, body):
        if body["base_operation_id"] != block["state"] and not has("ignores-base"):
            raise Refused("content_state_mismatch")

    def update(self, block, body):
        if has("appends-on-update"):
            block["text"] += body["content"]["data"]
            return
        self.check_type(body)
        block["text"] = body["content"]["data"]

    def extend(self, block, body):
        self.check_base(block, body)
        if not isinstance(body["fragment"], str):
            if has("accepts-any-shape"):
                return
            raise Refused("invalid_content")
        block["text"] += body["fragment"]

    def replace_suffix(self, block, body):
        self.check_base(block, body)
        if not isinstance(body["replacement"], str) and not has("accepts-any-shape"):
            raise Refused("invalid_content")
        text, retain = block["text"], body["retain"]
        length = len(text.encode("utf-16-le")) // 2 if has("counts-utf-16") else len(text)
        if has("counts-crlf-once"):
            length = len(text.replace("\r\n", "\n"))
        if retain > length or (retain == length and not has("retains-everything")):
            raise Refused("invalid_content_boundary")
        block["text"] = text[:retain] + str(body["replacement"])

    def seal(self, block, _body):
        block["is_sealed"] = not has("never-seals")


def failed(code):
    return {"outcome": "error", "error": {"code": code}}


def encode(message):
    source = json.dumps(message, ensure_ascii=False).encode("utf-8", "replace")
    pieces = [source[at : at + 3072] for at in range(0, len(source), 3072)]
    end = b"\x07" if has("answers-with-bel") else b"\x1b\\"
    return b"".join(
        b"\x1b]9002;1;1;%d;%d;%s%s" % (index, index < len(pieces) - 1, base64.b64encode(piece), end)
        for index, piece in enumerate(pieces)
    )


def main():
    reader, terminal = Reader(), Terminal()
    while True:
        try:
            data = os.read(0, 65_536)
        except OSError:
            return
        if not data:
            return
        replies = b""
        late = b""
        for source in reader.feed(data):
            if source == "report":
                replies += b"bad frame\r\n"
            elif source == "attributes":
                if has("answers-attributes-first"):
                    replies = b"\x1b[?62c" + replies
                elif has("answers-attributes-last"):
                    late += b"\x1b[?62c"
                elif not has("never-answers-attributes"):
                    replies += b"\x1b[?62c"
            elif (reply := terminal.receive(source)) is not None:
                replies += encode(reply)
        replies += late
        while replies:
            replies = replies[os.write(1, replies) :]


main()
