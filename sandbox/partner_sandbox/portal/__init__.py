"""The page of the platform for people."""
