"""The orders' way with its reading and writing: take, hand over, collect, fulfil, history."""
