"""A saved state: what persons decided and what the platform acknowledged, in one file, for a new database of another version."""
