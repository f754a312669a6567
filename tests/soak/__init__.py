"""A day in twenty minutes: a real installation under faults of everything around it, and the state after the last fault."""
