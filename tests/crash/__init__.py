"""Crash tests: kill real processes of a whole installation with -9 at seeded instants, then check the result."""
