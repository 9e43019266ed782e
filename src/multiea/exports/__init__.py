"""Exports: an alignment in the forms others read, each written whole or not at all."""
