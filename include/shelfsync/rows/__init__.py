"""Rows of any subject, Arrow in and Arrow out: keys, numbers, items, alignment, result files, reasons of a quarantine."""
