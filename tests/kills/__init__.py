"""Real kills: real processes of a whole installation on loopback, killed with -9 at seeded instants, and what is left afterwards."""
