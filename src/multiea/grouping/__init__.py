"""From scores of pairs to groups with at most one entity of each KG."""
