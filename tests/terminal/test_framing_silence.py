"""What is wrong with frames is between a decoder and its log."""

from itertools import count

import pytest

from blockwire.terminal.effects import Diagnostic, Effect, PassThrough, Reply
from blockwire.terminal.endpoint import Endpoint
from blockwire.terminal.framing import encode_frames
from blockwire.terminal.session import TerminalSession
from tests.terminal.frames import single_bytes
from tests.terminal.test_decoder import ASSEMBLIES, BAD

QUERY = b'{"version":1,"kind":"capability.query","request_id":"q","body":{}}'


@pytest.mark.parametrize("stream", [stream for stream, _ in [*BAD, *ASSEMBLIES]])
@pytest.mark.requirement("terminal:frame:silent")
def test_nothing_about_a_bad_frame_is_answered_and_the_next_request_is(stream: bytes) -> None:
    ids = count()
    endpoint = Endpoint(TerminalSession(new_context_id=lambda: f"c{next(ids)}"))
    effects: list[Effect] = []

    for piece in single_bytes(stream):
        effects += endpoint.receive_data(piece)

    assert {type(effect) for effect in effects} <= {Diagnostic, PassThrough}
    assert sum(isinstance(it, Reply) for it in endpoint.receive_data(encode_frames(QUERY, 1))) == 1
