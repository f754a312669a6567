"""Why the platform shows a SKU as it does: the history of one SKU at one vendor, read from what every step wrote.

`explain.explain` collects it, `desired` reads what is wanted and what it waits for, and `explanation.sentence` writes the summary.
"""
