"""The files of a run folder."""

from __future__ import annotations

REQUIRED_FILES = (
    "config.toml",
    "entities.parquet",
    "seeds.tsv",
    "held_out.tsv",
    "groups.parquet",
    "pairs.parquet",
    "embeddings.safetensors",
    "manifest.json",
)
CHECKED_FILES = ("seeds.tsv", "held_out.tsv", "validation.tsv", "open_seeds.jsonl", "groups.tsv", "duplicates.tsv")
EMBEDDING_SCALE = "/scale"  # of a KG's embeddings that are stored in 8 bits
# Names of a KG's signatures in the embeddings file; the first release called marks "labels".
SIGNATURE_MARKS, SIGNATURE_WEIGHTS = "/signature labels", "/signature weights"
