"""Checks of the evidence that was asked for: what a task lacks, and how to give it, in files or in Python."""

from __future__ import annotations

import logging
from collections.abc import Sequence

import polars as pl

from multiea.data.properties import attributes_of, names_of
from multiea.data.task import Task
from multiea.evidence.evidence import ATTRIBUTES, NAMES, STRUCTURE
from multiea.evidence.text import plain_text
from multiea.foundation.errors import InputError, counted
from multiea.settings.enhancement import MODES_WITH_CANDIDATES
from multiea.settings.tree import EVIDENCE, AlignSettings

log = logging.getLogger("multiea")
VALUES = {NAMES: names_of, ATTRIBUTES: attributes_of}
MOST_EXAMPLES = 3  # of values in common


def check_structure_alone(task: Task, settings: AlignSettings) -> None:
    """Refuses to compare structure alone without triples or seeds, and says what compares more."""
    has_triples = any(len(kg.triples) for kg in task.kgs)
    has_seeds = len(task.seeds) or len(task.open_seeds)
    if settings.evidence_kinds != (STRUCTURE,) or (has_triples and has_seeds):
        return
    why, instead = _why_structure_alone(task, settings)
    compared = [kind for kind, of_kg in VALUES.items() if sum(not of_kg(kg).is_empty() for kg in task.kgs) > 1]
    more = f"{' and '.join(compared)} are compared with {instead}" if compared else ""
    if not has_triples:
        raise InputError(
            f"'{task.name}' has no triples, and {why} compares structure alone",
            expected="KGs with triples",
            hint=more[:1].upper() + more[1:] or no_triples_hint(task),
        )
    raise InputError(
        f"'{task.name}' has no seeds, and {why} compares structure alone, which needs them",
        expected="a few known groups to learn from",
        hint=seeds_hint(task) + (f"; {more}, which needs none" if more else ""),
    )


def _why_structure_alone(task: Task, settings: AlignSettings) -> tuple[str, str]:
    """What makes an alignment compare structure alone, and what compares more."""
    if settings.evidence == (STRUCTURE,):
        return option(task, "evidence", STRUCTURE), option(task, "evidence", "auto")
    if not settings.uses_propagation:
        return f"the engine '{settings.engine}'", "the engine propagation"
    mode = settings.enhancement.mode
    if mode in MODES_WITH_CANDIDATES:
        return "enhancement.candidates 'none'", "a number of enhancement.candidates"
    return f"enhancement '{mode}'", f"enhancement {' or '.join(MODES_WITH_CANDIDATES)}"


def warn_of_missing_evidence(task: Task, asked: Sequence[str], used: Sequence[str]) -> None:
    """Warns of evidence that was asked for and left out; asked: as in the settings, used: what was compared."""
    for kind in asked:
        if kind not in EVIDENCE or kind in used:
            continue
        log.warning("evidence '%s' was left out: %s. Compared: %s", kind, why_missing(task, kind), ", ".join(used))


def why_missing(task: Task, kind: str) -> str:
    """Why a kind of evidence could not be used: no two KGs have it, or what they have is nowhere similar, or common."""
    what, own = "triples" if kind == STRUCTURE else kind, _kgs_with(task, kind)
    if len(own) > 1 and (shared := values_in_common(task, kind)):
        examples = ", ".join(f"'{value}'" for value in shared[:MOST_EXAMPLES])
        them, they_tell = ("it", "it tells") if len(shared) == 1 else ("them", "they tell")
        count = counted(len(shared), "name" if kind == NAMES else "value")
        return (
            f"the {what} of {', '.join(own)} have only {count} in common ({examples}), but all or very many entities "
            f"have {them}, so {they_tell} none apart"
        )
    if len(own) > 1:
        return f"the {what} of {', '.join(own)} have nothing in common"
    return f"only {own[0]} has {what}" if own else f"no KG has {what}"


def values_in_common(task: Task, kind: str) -> list[str]:
    """The names or attribute values that at least two KGs have, sorted; as the first of them writes them."""
    if kind not in VALUES:
        return []
    tables = []
    for number, kg in enumerate(task.kgs):
        value = VALUES[kind](kg)["name" if kind == NAMES else "value"].unique()
        columns = {"value": value, "text": plain_text(value)}
        tables.append(pl.DataFrame(columns).with_columns(kg=pl.lit(number)))
    several = pl.concat(tables).filter(pl.col("text") != "").filter(pl.col("kg").n_unique().over("text") > 1)
    return several.sort("text", "kg", "value").unique("text", keep="first", maintain_order=True)["value"].to_list()


def _kgs_with(task: Task, kind: str) -> list[str]:
    return [kg.name for kg in task.kgs if len(kg.triples if kind == STRUCTURE else VALUES[kind](kg))]


def refuse_nothing_to_compare(task: Task, kinds: Sequence[str]) -> None:
    """Raises an error that says why nothing can be compared; kinds: the evidence that was asked for.

    KGs without names, and KGs with names of which none is similar to one of another KG, need different help.
    """
    *reasons, last = (why_missing(task, kind) for kind in kinds)
    why = f"{', '.join(reasons)}, and {last}" if reasons else last
    hint = f"{show_what_was_read(task)} which columns are names and attributes"
    have_names = len(_kgs_with(task, NAMES)) > 1
    if STRUCTURE in kinds and not have_names:
        hint = no_triples_hint(task)
    elif NAMES in kinds:
        change = "roles= of multiea.load chooses" if is_in_memory(task) else "--names COLUMN or dataset.toml choose"
        model = "name_model=" if is_in_memory(task) else "--name-model"
        hint += f"; {change} others"
        if any(values_in_common(task, kind) for kind in kinds):
            hint = f"Add columns in which entities differ; {hint}"
        elif have_names:
            hint += f"; a name model ({model}) compares names of different languages"
    more = f"; {option(task, 'evidence', 'auto')} uses all there is" if len(kinds) < len(EVIDENCE) else ""
    values = " or ".join(kind for kind in kinds if kind in VALUES)
    raise InputError(
        f"'{task.name}' has nothing to compare: {why}",
        expected=f"{values or 'triples'} that are similar in at least two KGs",
        hint=hint + more,
    )


def is_in_memory(task: Task) -> bool:
    """Whether a task was made in Python, from tables or KGs, and not read from files."""
    return not task.origin.data.source


def option(task: Task, name: str, value: str) -> str:
    """A setting as the user writes it: as an option, or in Python as an argument."""
    return f'{name}="{value}"' if is_in_memory(task) else f"--{name} {value}"


def show_what_was_read(task: Task) -> str:
    """What shows the content of a task: a command, or a function; the words go on with what it shows."""
    return "multiea.inspect(task) shows" if is_in_memory(task) else "multiea inspect shows"


def no_triples_hint(task: Task) -> str:
    """What to do where there is nothing to compare."""
    return (
        f"Add relations or a name column (docs/data.md); {show_what_was_read(task)} what was read. A run opened "
        "without its triples cannot be aligned again: use multiea.open(run, with_triples=True)"
    )


def seeds_hint(task: Task) -> str:
    """How to give seeds."""
    if is_in_memory(task):
        return 'Give them as seeds=[{"a": "x", "b": "y"}] to multiea.load, or as Groups to multiea.Task'
    return "Give them as seeds.tsv with one column per KG, or raise --train-ratio if groups.tsv was split"
