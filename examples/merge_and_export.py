"""Aligns generated KGs, writes the merged KG and mappings, and prints how much smaller the merged KG is."""

import sys
from pathlib import Path

import polars as pl

import multiea
from multiea.data.synthetic import Synthesis, write_synthetic

out = Path(sys.argv[1] if len(sys.argv) > 1 else "merged")
data = out / "data"
data.mkdir(parents=True)
write_synthetic(Synthesis(kgs=4, entities=200), data)

alignment = multiea.align(multiea.load(data))
alignment.to_merged(out / "merged.parquet")
alignment.to_sssom(out / "mappings.sssom.tsv")

before = sum(len(kg.entities) for kg in alignment.task.kgs)
facts = pl.read_parquet(out / "merged.parquet").explode("sources")
known = pl.concat([facts.select("sources", entity=end) for end in ("head", "tail")])
from_several = known.group_by("entity").agg(pl.col("sources").n_unique()).filter(pl.col("sources") > 1)
print(f"{before:,} entities of {len(alignment.task.kgs)} KGs became {known['entity'].n_unique():,}")
print(f"{from_several.height:,} of these have facts from more than one KG")
