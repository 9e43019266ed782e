"""What comes out: the run folder, and later the exports and the report."""
