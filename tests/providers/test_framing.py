"""A body is the same however it was cut, also one that is no event stream, or begins late."""

import pytest

from tests.providers.compare import decode, texts

CUT = [("error", "stream_truncated")]
FOREIGN = [("error", "provider_protocol_error")]
YES = b'{"type": "response.output_text.delta", "delta": "Yes."}'


@pytest.mark.requirement("providers:decoder:cuts")
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"evenu: x\n\n", FOREIGN),
        (b"daTa: {}\n\n", FOREIGN),
        (b"retry\xff", CUT),
        (b"re\xff", FOREIGN),
        (b"nginx \xff\xfe", FOREIGN),
        (b"eve", CUT),
        (b"event: x\n", CUT),
        (b"\n" * 2000, CUT),
        (b"\n" * 2000 + b"<html>", FOREIGN),
        (b"\n" * 2000 + b"data: " + YES, [("prose", "Yes."), *CUT]),
        (b" " * 1024 + YES, [("prose", "Yes."), *CUT]),
        (b" " * 1025 + YES, CUT),
        (b"\xef\xbb\xbf" + b" " * 1021 + YES, [("prose", "Yes."), *CUT]),
        (b"\xef\xbb\xbf" + b" " * 1022 + YES, CUT),
    ],
)
def test_what_a_body_is_does_not_depend_on_its_cuts(
    body: bytes, expected: list[tuple[str, str]]
) -> None:
    whole = decode("openai-responses", [body])

    assert texts(whole) == expected
    for size in (1, 2, 1000):
        pieces = [body[i : i + size] for i in range(0, len(body), size)]
        assert decode("openai-responses", pieces).events == whole.events
