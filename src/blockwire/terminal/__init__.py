"""Terminal blocks: messages, frames, content types, and both ends of a connection; no I/O.

Spec: docs/spec/terminal/index.md.
"""
