"""Encoders: what maps the entities of all KGs into one space, one method a file."""
