"""Planted bugs: each is put into a copy of the tree, and the tests named beside it have to fail (docs/internals/reliability.md)."""
