"""Orders and partner picking (interface.md 2.5, 2.6, 3.1, 4.8 to 4.10)."""
