"""Asynchronous work, its status and its logs (interface.md 2.2, 3.3)."""
