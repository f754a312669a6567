"""Tokens and who may see what (interface.md 5)."""
