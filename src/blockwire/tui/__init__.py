"""``blockwire chat``: a conversation in a terminal.

Spec: docs/spec/chat/index.md.
"""

# The command is what others use; the modules are for ourselves.
__all__: list[str] = []
