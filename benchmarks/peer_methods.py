"""Other tools on the same data, without seeds: each reads a data set and returns the pairs of entities that it matches.

A table of pairs has the columns left_kg, left, right_kg, right.
"""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import polars as pl

from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.properties import attributes_of, names_of
from multiea.data.task import Task
from multiea.evidence.text import plain_text

THRESHOLD = 0.95  # what Splink's documentation uses for clusters
THRESHOLDS = (0.001, 0.01, 0.05, 0.1, 0.2, 0.35, 0.5, 0.7, 0.85, THRESHOLD, 0.99, 0.999, 0.9999)
MOST_PAIRS = 5e6  # of the clusters of a threshold; more do not fit into memory where scores are computed
COMPARED = ("title", "artist", "album")  # texts that records may have besides their name
PAIRS = {"left_kg": pl.String, "left": pl.String, "right_kg": pl.String, "right": pl.String}


def equal_names(task: Task) -> pl.DataFrame:
    """Entities with equal normalised names, where the name is the only one of its kind on both sides."""
    tables = []
    for kg in task.kgs:
        names = names_of(kg)
        plain = pl.DataFrame({"entity": kg.entities[names["entity"]], "name": plain_text(names["name"])})
        plain = plain.filter(pl.col("name") != "").unique()
        tables.append(plain.filter(pl.col("name").is_unique()))
    parts = [pl.DataFrame(schema=PAIRS)]
    for (a, one), (b, other) in combinations(zip(task.kg_names, tables, strict=True), 2):
        both = one.join(other, on="name", suffix="_right")
        parts.append(both.select(left_kg=pl.lit(a), left="entity", right_kg=pl.lit(b), right="entity_right").unique())
    return pl.concat(parts)


def splink(task: Task, thresholds: Sequence[float]) -> pl.DataFrame:
    """Splink as a competent user sets it up: cleaned columns, blocking rules, EM, term frequencies, clusters.

    The pairs have one more column, threshold: the clusters of several thresholds.
    """
    import splink.comparison_library as cl  # deferred: extra `peers`
    from splink import Linker, SettingsCreator, block_on
    from splink.backends.duckdb import DuckDBAPI

    records = pl.concat([splink_records(kg) for kg in task.kgs], how="diagonal")
    columns = [name for name in records.columns if records[name].null_count() < len(records)]
    texts = [name for name in ("name", *COMPARED) if name in columns]
    comparisons: list[Any] = [
        cl.JaroWinklerAtThresholds(name, [0.95, 0.88, 0.8]).configure(term_frequency_adjustments=True) for name in texts
    ]
    rules: list[Any] = [block_on(f"substr({name}, 1, 5)") for name in texts]
    rules += [block_on(f"{name}_end") for name in texts]
    if {"lat", "lon"} <= set(columns):
        comparisons.append(cl.DistanceInKMAtThresholds("lat", "lon", [1, 5, 25, 100]))
        rules.append(block_on("round(lat)", "round(lon)"))
    comparisons += [
        cl.ExactMatch(name).configure(term_frequency_adjustments=True)
        for name in ("year", "number", "language")
        if name in columns
    ]
    settings = SettingsCreator(
        link_type="link_only",
        comparisons=comparisons,
        blocking_rules_to_generate_predictions=rules,
        retain_matching_columns=False,
    )
    database = DuckDBAPI()
    parts = [part.to_arrow() for _, part in records.partition_by("source", as_dict=True, include_key=False).items()]
    names = [str(key[0]) for key in records.partition_by("source", as_dict=True)]
    tables = [database.register(part, dataset_display_name=name) for name, part in zip(names, parts, strict=True)]
    linker = Linker(tables, settings, log_level="ERROR")
    exact: list[Any] = [block_on("name", "round(lat)") if "lat" in columns else block_on(*texts[:2])]
    linker.training.estimate_probability_two_random_records_match(exact, recall=0.5)
    linker.training.estimate_u_using_random_sampling(max_pairs=2e6, seed=1)
    for rule in _training_rules(texts, columns, len(comparisons)):
        linker.training.estimate_parameters_using_expectation_maximisation(block_on(*rule))
    predicted = linker.inference.predict(threshold_match_probability=min(thresholds))
    found: list[pl.DataFrame] = []
    for threshold in thresholds:
        clusters = linker.clustering.cluster_pairwise_predictions_at_threshold(predicted, threshold)
        table: Any = clusters
        members = pl.from_arrow(table.as_pyarrow_table())
        assert isinstance(members, pl.DataFrame)
        sizes = members.group_by("cluster_id").len()["len"].cast(pl.Float64)
        if threshold != THRESHOLD and (sizes**2).sum() > MOST_PAIRS:  # most of the data in one cluster: never the best
            continue
        pairs = cluster_pairs(members.select(cluster="cluster_id", kg="source_dataset", entity="unique_id"))
        found.append(pairs.with_columns(threshold=pl.lit(threshold)))
    return pl.concat(found)


def _training_rules(texts: Sequence[str], columns: Sequence[str], comparisons: int) -> list[tuple[str, ...]]:
    """What pairs agree on from which EM learns. A compared column that they agree on is not learned from them."""
    if comparisons == 1:
        return [(f"{texts[0]}_end",)]
    return [(texts[0],), ("round(lat)", "round(lon)") if "lat" in columns else (texts[-1],)]


def splink_records(kg: KnowledgeGraph) -> pl.DataFrame:
    """One row per entity: its first name, and its attributes cleaned; texts in plain letters, numbers as numbers."""
    names = names_of(kg).unique("entity", keep="first", maintain_order=True)
    table = pl.DataFrame({"entity": names["entity"].cast(pl.Int32), "name": _cleaned(names["name"])})
    attributes = attributes_of(kg).with_columns(pl.col("property").cast(pl.String))
    if len(attributes):
        wide = attributes.pivot("property", index="entity", values="value", aggregate_function="first")
        table = table.join(wide.with_columns(pl.col("entity").cast(pl.Int32)), on="entity", how="full", coalesce=True)
    cleaned: list[pl.Series] = []
    for name in table.columns[1:]:
        if name in ("lat", "lon"):
            cleaned.append(table[name].cast(pl.Float64, strict=False))
        elif name == "year":
            cleaned.append(table[name].str.extract(r"(\d{2})\D*$"))
        elif name == "number":
            cleaned.append(table[name].str.extract(r"(\d+)").str.strip_chars_start("0"))
        elif name in (*COMPARED, "language") and name in table.columns:
            cleaned.append(_cleaned(table[name]))
    table = table.with_columns(cleaned)
    texts = [name for name in ("name", *COMPARED) if name in table.columns]
    return table.with_columns(
        *(pl.col(name).str.slice(-6).alias(f"{name}_end") for name in texts),
        source=pl.lit(kg.name),
        unique_id=kg.entities[table["entity"]],
    ).select(
        "source",
        "unique_id",
        *(one for one in ("name", *COMPARED, "lat", "lon", "year", "number", "language") if one in table.columns),
        *(f"{name}_end" for name in texts),
    )


def _cleaned(texts: pl.Series) -> pl.Series:
    """Plain letters without leading numbers, such as those of tracks; null where nothing is left."""
    plain = plain_text(texts.fill_null("")).str.replace(r"^\d+ ", "")
    return plain.set(plain == "", None).alias(texts.name)


def cluster_pairs(members: pl.DataFrame) -> pl.DataFrame:
    """All pairs of two sources inside the clusters."""
    both = members.join(members, on="cluster", suffix="_right").filter(pl.col("kg") < pl.col("kg_right"))
    return both.select(left_kg="kg", left="entity", right_kg="kg_right", right="entity_right")


def paris(task: Task, jar: Path, folder: Path) -> pl.DataFrame:
    """PARIS, pair by pair of KGs: of the last iteration the best match of each entity."""
    files = {kg.name: folder / f"{number}.nt" for number, kg in enumerate(task.kgs)}
    for kg in task.kgs:
        files[kg.name].write_text("".join(f"{line}\n" for line in paris_lines(kg)))
    parts = [pl.DataFrame(schema=PAIRS)]
    for a, b in combinations(task.kg_names, 2):
        out = folder / f"{a}-{b}"
        out.mkdir()
        words = ["java", "-jar", str(jar), str(files[a]), str(files[b]), str(out)]
        subprocess.run(words, check=True, capture_output=True)
        entities = [next(kg for kg in task.kgs if kg.name == name).entities for name in (a, b)]
        parts.append(_paris_matches(out, (a, b), entities))
    return pl.concat(parts)


def paris_lines(kg: KnowledgeGraph) -> pl.Series:
    """A KG as N-Triples with numbers as ids, and names and attributes as cleaned literals."""
    ends = {name: pl.Series(kg.triples[:, column]) for column, name in enumerate(("head", "relation", "tail"))}
    triples = pl.DataFrame(ends).select(pl.format("<urn:e:{}> <urn:r:{}> <urn:e:{}> .", "head", "relation", "tail"))
    names = names_of(kg).select("entity", property=pl.lit("name"), value="name")
    facts = pl.concat([names, attributes_of(kg).select("entity", pl.col("property").cast(pl.String), "value")])
    number = facts["property"].rank("dense")
    literals = pl.DataFrame({"entity": facts["entity"], "property": number, "value": plain_text(facts["value"])})
    lines = literals.filter(pl.col("value") != "").select(
        pl.format('<urn:e:{}> <urn:p:{}> "{}" .', "entity", "property", "value")
    )
    return pl.concat([triples.to_series().alias("line"), lines.to_series().alias("line")])


def _paris_matches(out: Path, kgs: Sequence[str], entities: Sequence[Any]) -> pl.DataFrame:
    files = sorted(out.glob("*_eqv.tsv"), key=lambda file: int(file.name.split("_")[0]))
    files = [file for file in files if file.stat().st_size]
    if not files:
        return pl.DataFrame(schema=PAIRS)
    names = ["left", "right", "probability"]
    table = pl.read_csv(files[-1], separator="\t", has_header=False, quote_char=None, new_columns=names)
    best = table.sort("probability", descending=True).unique("left", keep="first", maintain_order=True)
    left, right = (best[side].str.extract(r"(\d+)>?$").cast(pl.Int64) for side in ("left", "right"))
    return pl.DataFrame({"left": entities[0][left], "right": entities[1][right]}).select(
        left_kg=pl.lit(kgs[0]), left="left", right_kg=pl.lit(kgs[1]), right="right"
    )
