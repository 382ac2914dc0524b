"""Event streams: live fan-out, catching up, and what a connection holds."""
