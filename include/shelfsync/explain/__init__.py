"""Why the platform shows what it shows: the life of one SKU at one vendor, told from what every step wrote down.

`explain.explain` gathers, `sentence` says it in one sentence, `sources` has one reader a kind of event.
"""
