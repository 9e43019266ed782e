"""Encoders: models that map the entities of all KGs into one space; one method per file."""
