"""What the platform says, typed. Reading is tolerant, and `raw` keeps every word."""
