"""The delivery platform itself, runnable: its interface, its rules, its limits and its faults.

Imports nothing of the project around it; see README.md beside this file for what it does not imitate.
"""
