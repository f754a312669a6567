"""A day in twenty minutes: a real installation at work while everything around it goes wrong, and what is true when that is over."""
