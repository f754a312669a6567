"""Scenario tests: a day on the virtual clock. The platform's store and the warehouse have to agree about it."""
