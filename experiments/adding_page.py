"""The page about adding a KG, made from the stored results."""

from __future__ import annotations

from statistics import mean, stdev

from stored_rows import Row


def page(rows: list[Row], results: str) -> str:
    """The page; results: the name of the file of stored results."""
    data = list(dict.fromkeys(row["data"] for row in rows))
    return TEXT.format(
        all_seeds="\n".join(_line_all_seeds(rows, name, kg) for name in data for kg in _kgs(rows, name)),
        few_seeds="\n".join(_line_few_seeds(rows, name, kg) for name in data for kg in _kgs(rows, name)),
        spread="; ".join(f"{name} {100 * _spread(rows, name):.1f}" for name in data),
        runs="; ".join(_runs(rows, name) for name in data),
        results=results,
    )


def _kgs(rows: list[Row], data: str) -> list[str | None]:
    """The KGs of a data set, and last None, which stands for all of them."""
    return [*sorted({row["new"] for row in rows if row["data"] == data and row["new"]}), None]


def _rows(rows: list[Row], data: str, way: str, new: str | None = None) -> list[Row]:
    """The runs of one way, for one added KG or for all."""
    return [row for row in rows if row["data"] == data and row["way"] == way and new in (None, row["new"])]


def _f1(rows: list[Row]) -> float:
    return float(mean(row["pairs"]["f1"] for row in rows))


def differences(rows: list[Row], data: str, new: str | None) -> list[float]:
    """F1 of pairs with the KG added minus F1 with all KGs aligned at once, in points, one number per split."""
    at_once, added = _rows(rows, data, "anew"), _rows(rows, data, "added", new)
    splits = sorted({row["split"] for row in at_once})
    means = [[_f1([row for row in some if row["split"] == split]) for split in splits] for some in (added, at_once)]
    return [100 * (one - other) for one, other in zip(*means, strict=True)]


def _line_all_seeds(rows: list[Row], data: str, new: str | None) -> str:
    """A row of the first table: both F1, their difference with its standard error, the share of old groups kept."""
    at_once, added = _rows(rows, data, "anew"), _rows(rows, data, "added", new)
    points = differences(rows, data, new)
    fates = {fate: sum(row["fates"][fate] for row in added) for fate in added[0]["fates"]}
    old = sum(count for fate, count in fates.items() if fate not in ("new", "retired"))
    seconds = mean(row["seconds"] for row in added) / mean(row["seconds"] for row in at_once)
    cells = (
        data,
        new or "**all**",
        f"{_f1(added):.3f}",
        f"{_f1(at_once):.3f}",
        f"{mean(points):+.1f} ± {stdev(points) / len(points) ** 0.5:.1f}",
        f"{(fates['kept'] + fates['grown']) / old:.0%}",
        f"{seconds:.1f}",
        str(len(added)),
    )
    return "| " + " | ".join(cells) + " |"


def _line_few_seeds(rows: list[Row], data: str, new: str | None) -> str:
    """A row of the second table: F1 with all seeds, with few, with all KGs at once; members found for open seeds."""
    few = _rows(rows, data, "few ties", new)
    f1 = [f"{_f1(_rows(rows, data, way, new)):.3f}" for way in ("added", "few ties", "few ties anew")]
    found, checked, right = (sum(row["completed"][key] for row in few) for key in ("found", "checked", "right"))
    cells = [data, new or "**all**", *f1, f"{found / len(few):,.0f}", f"{right / max(checked, 1):.0%}", str(len(few))]
    return "| " + " | ".join(cells) + " |"


def _spread(rows: list[Row], data: str) -> float:
    """The standard deviation of F1 among runs over all KGs that differ only in the random state."""
    at_once = _rows(rows, data, "anew")
    all_splits = {row["split"] for row in at_once}
    splits = [[row["pairs"]["f1"] for row in at_once if row["split"] == split] for split in all_splits]
    return float(mean(stdev(values) ** 2 for values in splits) ** 0.5)


def _runs(rows: list[Row], data: str) -> str:
    own = [row for row in rows if row["data"] == data]
    splits, states = ({row[name] for row in own} for name in ("split", "random_state"))
    devices = ", ".join(sorted({row["device"] for row in own}))
    return f"{data}: {len(splits)} splits, {len(states)} random states for each, on {devices}"


TEXT = """# Adding a KG

Each KG in turn is removed from a data set, the other KGs are aligned (`multiea align`), and the removed KG is added to
that run (`multiea add`). Only structure is compared. Seeds and held-out groups are the same as in a run over all KGs at
once. Scores are F1 of pairs, means over splits and random states. The difference is in points, with its standard error
over the splits. Old groups kept or grown: the share of the groups of the first run, including seeds, whose members are
still together, with or without new members.

| data | added KG | F1, KG added | F1, all KGs at once | difference | old groups kept or grown | ratio of seconds | runs |
|---|---|---|---|---|---|---|---|
{all_seeds}

Single runs vary more. For runs over all KGs that differ only in the random state, the standard deviation of F1 in
points is: {spread}.

## Few seeds in the new KG
For a fifth of the seeds it is known whether they have a member in the new KG, and which one. The other seeds are open:
their members in the new KG are searched. When all KGs are aligned at once with the same knowledge, these seeds count as
groups without a member in the new KG. Members found for open seeds can be checked if the true counterpart is known.

| data | added KG | F1, all seeds | F1, a fifth of the seeds | F1, a fifth, all KGs at once | members found for open seeds | right, of those checked | runs |
|---|---|---|---|---|---|---|---|
{few_seeds}

{runs}.
Made by `python experiments/adding.py`; stored results: `experiments/results/{results}`.
"""  # noqa: E501 (rows of tables)
