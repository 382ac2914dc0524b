"""What others need to test with us: contract suites, scripts, strategies.

Spec: docs/explanation/the-house.md. Never imported by product code.

``blockwire.testing.strategies`` and ``scripts`` need hypothesis and are imported by their names.
"""

from __future__ import annotations

__all__: list[str] = []
