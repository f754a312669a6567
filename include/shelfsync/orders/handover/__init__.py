"""The channels to a store: a table in its database, a signed call, files. Each delivers a numbered document at least once."""
