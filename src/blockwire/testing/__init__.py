"""What others need to test with us: contract suites, scripts, strategies.

Spec: docs/explanation/the-house.md. Never imported by product code, so nothing is imported here
either; take what you need by its name::

    from blockwire.testing.store_contract import StoreContract    # pytest, anyio's plugin
    from blockwire.testing.bus_contract import BusContract        # the same
    from blockwire.testing.conformance import judge_terminal      # nothing else
    from blockwire.testing.store_script import Script             # nothing else
    from blockwire.testing.scripts import conversation_scripts    # hypothesis
    from blockwire.testing.strategies import messages             # hypothesis

``pip install 'blockwire[testing]'`` brings what they need.
"""

from __future__ import annotations

__all__: list[str] = []
