"""From scores of pairs to groups with at most one entity per KG: matching, calibration, duplicates, lineage."""
