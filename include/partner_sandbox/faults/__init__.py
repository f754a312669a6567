"""Seeded faults at every operation."""
