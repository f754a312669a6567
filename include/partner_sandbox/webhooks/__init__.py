"""Events for the partner, and the result of each attempt (interface.md 6)."""
