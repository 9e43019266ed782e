"""What KGs say about their entities besides structure: names and attributes, made comparable."""
