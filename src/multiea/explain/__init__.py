"""Why entities are, or are not, in one group."""
