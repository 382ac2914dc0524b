"""Imports: an archive becomes conversations, all of them or none."""
