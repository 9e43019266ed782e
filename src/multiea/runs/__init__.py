"""Run folders: an alignment with its data source, scores and timings; saved, opened, checked."""
