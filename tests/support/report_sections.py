"""The titles of all sections of a report, in order."""

SECTIONS = (
    "Summary", "Knowledge graphs", "Overlap of the KGs", "Confidences", "Scores against held-out groups",
    "Learning curves", "Map of the embeddings", "Most confident groups", "Least confident groups", "Unmatched entities",
    "Settings and commands to repeat the run",
)  # fmt: skip
