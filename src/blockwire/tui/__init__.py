"""``blockwire chat``: a conversation in a terminal.

Spec: docs/spec/chat/index.md.
"""
