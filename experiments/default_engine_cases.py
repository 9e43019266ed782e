"""The cases of the experiments on the default engine: data sets, options, and the parts that are added one by one."""

from __future__ import annotations

from dataclasses import dataclass

PAIRS = ("zh_en", "ja_en", "fr_en")


@dataclass(frozen=True)
class Case:
    """A data set, the arguments of `multiea build` that make it, and the options of `multiea align`."""

    title: str
    build: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    pool: str = "all"


FULL_DBP, FULL_DWY = ("dbp-4", "--full"), ("dwy-3", "--full")
CASES = {
    "dbp-4": Case("DBP-4", ("dbp-4",)),
    "dbp-4 test": Case("DBP-4, `--bootstrap test`", ("dbp-4",), ("--bootstrap", "test"), "test"),
    "dwy-3-15k": Case("dwy-3-15k, whole graphs", ("dwy-3", "--graphs", "whole")),
    "dbp15k full": Case("dbp15k `--full`, partial groups", FULL_DBP),
    "dwy15k full": Case("dwy15k `--full`, partial groups", FULL_DWY),
    "world": Case("world"),
    **{f"{pair} none": Case(f"{pair}, `--bootstrap none`", (pair,), ("--bootstrap", "none"), "test") for pair in PAIRS},
    **{f"{pair} test": Case(f"{pair}, `--bootstrap test`", (pair,), ("--bootstrap", "test"), "test") for pair in PAIRS},
}
PARTS = {
    "propagation alone": "cosines of embeddings; marks of seeds only",
    "+ Sinkhorn": "candidates compete with each other",
    "+ products": "paths through third KGs",
    "+ bootstrapping": "found groups become pseudo-labels: the default",
    "+ fusion": "`--engine propagation+multiea`",
}
ABLATED = ("dbp-4", "world")
RELIABLE = ("world", "dbp15k full")
DANGLING = ("world", "dbp-4")
