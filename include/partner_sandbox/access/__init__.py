"""Tokens and the access they give (interface.md 5)."""
