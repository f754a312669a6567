"""Why the platform shows a SKU as it does: the history of one SKU at one vendor, read from what every step wrote.

`explain.explain` collects it, `sentence` writes the summary, and each other module reads one kind of event.
"""
