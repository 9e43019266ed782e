"""All KGs of a task in one id space: canonical order, joint graph, sparse operations."""
