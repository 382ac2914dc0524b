"""Who may come in, what for, and for how long."""
