"""The content types that are known here, one module each, and their registry.

Spec: docs/spec/terminal/content-types.md.
"""
