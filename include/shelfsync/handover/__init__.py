"""The ways to a store: a table in its database, a signed call, files. Each takes a document with a number, at least once."""
