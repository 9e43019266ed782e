"""The paper's tables and figures, and the cells behind each; without any heavy import, for the command line."""

from __future__ import annotations

DATA = {"dbp-4": None, "dwy-3": None}
ORDERS = ("answer", "shuffled")  # of the candidates: the order of the held-out groups, or a random one
BASELINES = ("mtranse", "iptranse", "gcn-align", "kecg", "naea", "psr")
MEASURED = ("gcn-align", "kecg", "naea", "psr")  # the methods of the efficiency tables
STRATEGIES = ("mean", "anchor", "each")
CURVES = ("gamma", "lambda", "eta", "ratio")
SETTINGS = ("engine", "strategy", "anchor", "pairwise", "bootstrap", "margin", "negatives", "gamma", "train_ratio")
OURS = ("propagation", "propagation-all", "fusion")

NEEDS: dict[str, tuple[str, ...]] = {  # the cells behind each table or figure
    "table-1": (),
    "table-2": tuple(
        f"{data}/{name}"
        for data in DATA
        for name in (
            *(f"{name}-pairwise" for name in (*BASELINES, "psr-each")),
            *(f"multiea-{name}" for name in STRATEGIES),
            *BASELINES,
            *OURS,
        )
    ),
    "table-3": tuple(f"dbp-4/{name}{way}" for name in MEASURED for way in ("-pairwise", "")),
    "table-4": tuple(f"dwy-3/{name}{way}" for name in MEASURED for way in ("-pairwise", "")),
    "table-5": tuple(f"{data}/{name}-pairwise" for data in DATA for name in (*BASELINES, "psr-each")),
    "table-6": tuple(f"{data}/{name}-pairwise" for data in DATA for name in (*BASELINES, "psr-each")),
    "figure-case-study": (),
    "figure-tsne": (),
    "figure-sensitivity": tuple(f"{data}/sensitivity-{name}" for data in DATA for name in CURVES),
    "gold-order": ("dbp-4/gold-order",),
}
