"""What browsers are told about the page."""

from typing import Final

import pytest

from blockwire.web import (
    ASSET_HEADERS,
    CONTENT_SECURITY_POLICY,
    PAGE_HEADERS,
    PERMISSIONS_POLICY,
    media_type_of,
)

DIRECTIVES: Final = {
    name: values.split()
    for name, _, values in (
        directive.partition(" ") for directive in CONTENT_SECURITY_POLICY.split("; ")
    )
}


@pytest.mark.requirement("page:security:policy")
def test_nothing_runs_or_loads_but_our_own_files() -> None:
    assert DIRECTIVES.pop("default-src") == ["'none'"]
    assert DIRECTIVES["script-src"] == DIRECTIVES["style-src"] == ["'self'"]
    assert DIRECTIVES["connect-src"] == DIRECTIVES["worker-src"] == ["'self'"]
    assert DIRECTIVES["img-src"] == ["'self'", "blob:"]
    for name in ("base-uri", "form-action", "frame-ancestors"):
        assert DIRECTIVES[name] == ["'none'"]
    for loophole in ("unsafe", "data:", "http", "*", "nonce", "strict-dynamic"):
        assert loophole not in CONTENT_SECURITY_POLICY


@pytest.mark.requirement("page:security:trusted-types")
def test_html_is_made_by_two_named_policies_only() -> None:
    assert DIRECTIVES["require-trusted-types-for"] == ["'script'"]
    assert DIRECTIVES["trusted-types"] == ["blockwire", "dompurify"]


@pytest.mark.requirement("page:security:permissions")
@pytest.mark.parametrize("feature", ["camera", "microphone", "geolocation", "usb", "payment"])
def test_the_page_may_use_no_device(feature: str) -> None:
    assert f"{feature}=()" in PERMISSIONS_POLICY.split(", ")
    assert ("permissions-policy", PERMISSIONS_POLICY) in PAGE_HEADERS


@pytest.mark.requirement("page:security:workers")
def test_a_worker_runs_under_the_policy_of_the_page() -> None:
    assert dict(ASSET_HEADERS)["content-security-policy"] == CONTENT_SECURITY_POLICY
    assert dict(PAGE_HEADERS)["content-security-policy"] == CONTENT_SECURITY_POLICY


@pytest.mark.parametrize(
    ("name", "media_type"),
    [
        ("index.html", "text/html; charset=utf-8"),
        ("assets/a.b.js", "text/javascript; charset=utf-8"),
        ("assets/a.css", "text/css; charset=utf-8"),
        ("assets/icon.svg", "image/svg+xml"),
        ("assets/unknown", "application/octet-stream"),
    ],
)
def test_a_file_is_what_the_end_of_its_name_says(name: str, media_type: str) -> None:
    assert media_type_of(name) == media_type
