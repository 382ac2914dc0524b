"""Turns from their submit to their end, and the conversation that they change."""
