"""``blockwire term``: a program in a pty, and its history live in any terminal.

Spec: docs/spec/host/index.md.
"""

# The command is what others use; the modules are for ourselves.
__all__: list[str] = []
