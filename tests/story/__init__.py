"""A day's story on the virtual clock, told by the platform's own memory and by the warehouse: they have to agree."""
