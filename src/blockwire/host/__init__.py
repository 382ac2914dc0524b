"""``blockwire term``: a program in a pty, and its history live in any terminal.

Spec: docs/spec/host/index.md.
"""
