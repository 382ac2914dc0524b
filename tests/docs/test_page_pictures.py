"""The pictures of the page are small, and shown."""

import pytest

from tests.suites import PROJECT

PICTURES = PROJECT / "docs" / "pictures"
NAMES = tuple(
    f"page-{name}"
    for name in ("start", "light", "dark", "phone", "unknown", "error", "suspended", "share")
)
ONE_BYTES_MAX = 150_000


@pytest.mark.parametrize("name", NAMES)
def test_a_picture_is_small_and_shown_somewhere(name: str) -> None:
    path = PICTURES / f"{name}.png"

    assert path.stat().st_size < ONE_BYTES_MAX
    pages = [PROJECT / "README.md", *PROJECT.glob("docs/*.md"), *PROJECT.glob("docs/[eht]*/*.md")]
    assert any(path.name in page.read_text(encoding="utf-8") for page in pages)
