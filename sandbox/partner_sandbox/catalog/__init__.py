"""Products, prices, availability, listing and export (interface.md 4.1 to 4.5)."""
