"""Tests of blockwire. Each room's tests lie in the folder with the room's name."""
