"""Engines turn the KGs of a task into embeddings: propagation, and encoders that are trained."""
