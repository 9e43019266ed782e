"""Exports: a run in formats that other tools read. export.py lists the formats; each has a module of its own."""
