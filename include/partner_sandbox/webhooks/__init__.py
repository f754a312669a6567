"""What is sent to the partner, and what became of each attempt (interface.md 6)."""
