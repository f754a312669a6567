"""Promotions (interface.md 2.4, 3.4, 4.7)."""
