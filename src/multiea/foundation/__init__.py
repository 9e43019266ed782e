"""Helpers for all other packages: errors, progress, atomic files, memory, offsets."""
