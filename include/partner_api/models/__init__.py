"""Answers of the platform, typed. Reading is tolerant, and `raw` holds the whole answer."""
