"""Failures in the providers' words and in ours."""

from typing import Any

import pytest

from blockwire.providers import ProviderFailure, decode_http_error, failure_of, make_decoder
from tests.providers.compare import TURN_ID, counting_ids, fold

ERRORS: list[tuple[Any, str, bool, Any]] = [
    # the provider's error,                                  our code,               retry, its code
    ({"code": "insufficient_quota", "message": "x"}, "insufficient_quota", False, "insufficient_quota"),
    ({"code": None, "type": "rate_limit_error"}, "rate_limit_error", True, "rate_limit_error"),
    ({"code": "rate_limit_exceeded", "type": "tokens"}, "rate_limit_exceeded", True, "rate_limit_exceeded"),
    ({"type": "overloaded_error"}, "provider_overloaded", True, "overloaded_error"),
    ({"code": 503, "status": "UNAVAILABLE"}, "provider_unavailable", True, "UNAVAILABLE"),
    ({"code": 400, "message": "x"}, "provider_error", False, 400),
    ({"code": "429"}, "provider_rate_limited", True, "429"),
    ({"code": 418, "type": "Tea Pot"}, "tea_pot", False, "Tea Pot"),
    ({"code": 599}, "provider_error", True, 599),
    ({"code": True, "type": ["x"]}, "provider_error", False, None),
    ({"type": "error", "status_code": 529}, "provider_overloaded", True, "error"),
    ({"code": "Ünlesbar\x1b"}, "provider_error", False, "Ünlesbar\ufffd"),
    ({"code": 10**30}, "provider_error", False, None),
    # A provider's own number is no HTTP status.
    ({"code": 1113, "message": "x"}, "provider_error", False, 1113),
    ({"code": "1302", "type": ""}, "provider_error", False, "1302"),
    ({"code": "server_is_overloaded"}, "provider_overloaded", True, "server_is_overloaded"),
    ({"code": 500, "type": "InternalServerError"}, "internal_server_error", True, "InternalServerError"),
    ({"code": 500, "type": "new_api_error"}, "new_api_error", True, "new_api_error"),
    ({"code": "error", "type": "rate_limit_error"}, "rate_limit_error", True, "error"),
    ({"message": "x", "error_type": "overloaded"}, "provider_overloaded", True, "overloaded"),
    ("just a sentence", "provider_error", False, None),
    (None, "provider_error", False, None),
    ([1], "provider_error", False, None),
]  # fmt: skip


@pytest.mark.parametrize(("error", "code", "retryable", "provider_code"), ERRORS)
def test_an_error_has_a_code_of_ours_and_the_provider_s(
    error: Any, code: str, retryable: bool, provider_code: Any
) -> None:
    failure = failure_of(error)

    assert (failure.code, failure.retryable) == (code, retryable)
    assert failure.provider_code == provider_code


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ({"message": " Oh. "}, "Oh."),
        ({"detail": "Oh."}, "Oh."),
        ("Oh.", "Oh."),
        ({"message": "x" * 9_999}, "x" * 2_000),
        ({"message": 5}, "The provider reported an error and did not say more."),
    ],
)
def test_an_error_has_a_sentence_of_bounded_length(error: Any, message: str) -> None:
    assert failure_of(error).message == message


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (
            429,
            b'{"error": {"message": "Slow down.", "type": "rate_limit_error"}}',
            ProviderFailure(
                code="rate_limit_error",
                message="Slow down.",
                retryable=True,
                provider_code="rate_limit_error",
            ),
        ),
        (
            429,
            b'{"error": {"code": "insufficient_quota", "message": "Pay."}}',
            ProviderFailure(
                code="insufficient_quota", message="Pay.", provider_code="insufficient_quota"
            ),
        ),
        (
            503,
            b'[{"error": {"code": 503, "status": "UNAVAILABLE", "message": "Busy."}}]',
            ProviderFailure(
                code="provider_unavailable",
                message="Busy.",
                retryable=True,
                provider_code="UNAVAILABLE",
            ),
        ),
        (
            404,
            b'{"detail": "No such model."}',
            ProviderFailure(code="provider_not_found", message="No such model.", provider_code=404),
        ),
        (
            502,
            b"<html>Bad Gateway</html>",
            ProviderFailure(
                code="provider_unavailable",
                message="The provider answered with HTTP status 502.",
                retryable=True,
                provider_code=502,
            ),
        ),
        (
            400,
            b"[]",
            ProviderFailure(
                code="provider_error",
                message="The provider answered with HTTP status 400.",
                provider_code=400,
            ),
        ),
    ],
)
def test_a_response_with_an_error_status_is_understood(
    status: int, body: bytes, expected: ProviderFailure
) -> None:
    assert decode_http_error(status, body) == expected


@pytest.mark.requirement("providers:failures:redacted")
def test_a_provider_s_sentence_passes_the_redactor() -> None:
    decoder = make_decoder(
        "gemini",
        turn_id=TURN_ID,
        new_id=counting_ids(),
        redact=lambda text: text.replace("sk-secret", "***"),
    )

    events = decoder.receive_data(b'data: {"error": {"message": "key sk-secret"}}\n\n')

    content: Any = fold(events)["content"]
    assert content[0]["message"] == "key ***"
