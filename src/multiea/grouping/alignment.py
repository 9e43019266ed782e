"""Alignment: the groups found, how sure they are, the embeddings behind them, and how it was made."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import torch
from torch import Tensor

from multiea.data.groups import ABSENT, Groups
from multiea.data.task import Task
from multiea.evaluation.reliability import scores_of_confidence
from multiea.evaluation.scores import POOLS, pool_of_candidates, ranks_of_groups, scores_by_rank
from multiea.graph.joint_graph import places_by_name
from multiea.grouping.calibration import Calibration
from multiea.grouping.duplicates import Duplicates, find_duplicates
from multiea.grouping.judging import scores_of_groups, scores_of_pairs
from multiea.grouping.lineage import Ancestor, GroupIds, follow, hashed_id
from multiea.grouping.matching import FoundGroups, Matches, joined, matched_inside, mutual_matches, scores_inside
from multiea.similarity.enhancement import Enhancement, Pairs, similarities
from multiea.similarity.signatures import Signatures

if TYPE_CHECKING:
    from multiea.exports.export import Written


@dataclass(frozen=True)
class Alignment:
    """What `align` returns.

    task: the KGs, seeds and held-out groups it was made from. found: the groups found among what is not seeds.
    embeddings: (N, d) of all entities, KG after KG. settings: everything needed to make it again. calibration: how
    scores became confidences. signatures: of all entities, where large KGs are searched by them. duplicates: further
    members of found groups, of KGs that repeat things. ids: of its groups, where they carry on those of a run before;
    otherwise they depend on members alone. adopted: open seeds, where there are any, with the members found for them.
    """

    task: Task
    found: FoundGroups
    embeddings: Tensor
    enhancement: Enhancement
    calibration: Calibration = field(default_factory=Calibration)
    signatures: Signatures | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    history: Mapping[str, Any] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    duplicates: Duplicates = field(default_factory=Duplicates)
    ids: GroupIds | None = None
    adopted: FoundGroups | None = None
    _among_all: tuple[Pairs, list[np.ndarray]] | None = field(default=None, repr=False, compare=False)

    @property
    def groups(self) -> pl.DataFrame:
        """All groups, seeds first, a row a member: group_id, kg, entity, confidence, status.

        status: seed, found, or duplicate, of a KG that repeats things and has a member in the group already. Of open
        seeds, which come next to seeds, the members that were known are seed, the others found.
        """
        of_known, of_found = self.group_ids()
        known = self._long_table(self.known, of_known, self._told())
        found = self._long_table(self.found, of_found, np.zeros(self.found.groups.members.shape, dtype=bool))
        return pl.concat([known, found, self._table_of_duplicates(of_found)])

    @property
    def known(self) -> FoundGroups:
        """The seeds, and after them open seeds with the members found for them."""
        seeds = FoundGroups.of_members(self.task.seeds, self.task.seeds.present.astype(float))
        return seeds if self.adopted is None else seeds.joined(self.adopted)

    def group_ids(self) -> tuple[list[str], list[str]]:
        """The ids of known groups, which are seeds and open seeds, and of the groups found, in their order."""
        known = self.known.groups
        if self.ids is not None:
            if (len(self.ids.known), len(self.ids.found)) != (len(known), len(self.found.groups)):
                raise ValueError("the ids are those of other groups; set ids to None, or follow the run before again")
            return self.ids.known, self.ids.found
        of_known, of_found = (group_ids(groups.to_table(self.task.kgs)) for groups in (known, self.found.groups))
        return of_known, of_found

    def as_ancestor(self) -> Ancestor:
        """What another run needs to carry on the ids of this one."""
        once_used = {} if self.ids is None else {"once_used": self.ids.lineage["group_id"]}
        return Ancestor(self.groups.select("group_id", "kg", "entity"), self.task.kg_names, **once_used)

    def following(self, ancestor: Ancestor) -> Alignment:
        """The same groups, with ids that carry on those of a run before."""
        by_members = replace(self, ids=None)
        ids, lineage = follow(ancestor, by_members.groups)
        carried = dict(ids.iter_rows())
        of_known, of_found = ([carried[one] for one in some] for some in by_members.group_ids())
        return replace(self, ids=GroupIds(of_known, of_found, lineage, ancestor.lacks(self.task.kg_names)))

    @property
    def pairs(self) -> pl.DataFrame:
        """All pairs of members of groups: group_id, left_kg, left, right_kg, right, confidence, matched, status.

        confidence: how probably these two are the same; matched: whether they are each other's best, or (not) follow
        from other pairs of their group. Duplicates are no members here.
        """
        of_known, of_found = self.group_ids()
        nothing = np.zeros(self.found.groups.members.shape, dtype=bool)
        tables = [self._pair_table(self.known, of_known, self._told()), self._pair_table(self.found, of_found, nothing)]
        return pl.concat(tables)

    def similarities(self, pool: str, held_out: Groups | None = None) -> tuple[Pairs, list[np.ndarray]]:
        """The scores of all pairs of KGs among a pool of candidates, and that pool, KG by KG."""
        held_out = self.task.held_out if held_out is None else held_out
        if pool == "all" and self._among_all is not None:
            return self._among_all
        return pool_similarities(self.task, self.embeddings, self.enhancement, pool, held_out, self.signatures)

    def evaluate(self, held_out: Groups | None = None) -> dict[str, Any]:
        """Scores against held-out groups (the task's own unless others are given), as in metrics.json."""
        held_out = self.task.held_out if held_out is None else held_out
        Task(self.task.kgs, self.task.seeds, held_out, open_seeds=self.task.open_seeds)  # refuses what never counts
        if not len(held_out):
            return {}
        by_score: dict[str, dict[str, Any]] = {}
        for pool in POOLS:
            scores, pools = self.similarities(pool, held_out)
            for name, value in scores_by_rank(ranks_of_groups(scores, pools, held_out), self.task.kg_names).items():
                by_score.setdefault(name, {})[pool] = value
        return by_score | {
            "confidence": scores_of_confidence(self.found, held_out),
            "pairs": scores_of_pairs(self.found.groups, held_out),
            "groups": scores_of_groups(self.found.groups, held_out),
        }

    def with_enhancement(self, enhancement: Enhancement) -> Alignment:
        """The same embeddings, compared and grouped in another way."""
        settings = {**self.settings, "enhancement": asdict(enhancement)}
        other = replace(self, enhancement=enhancement, settings=settings, calibration=Calibration(),
                        ids=None, _among_all=None)  # fmt: skip
        known = Task(self.task.kgs, self.known.groups)
        scores, pools = pool_similarities(
            known, self.embeddings, enhancement, "all", Groups.empty(self.task.kg_names), self.signatures
        )
        repeating = self.settings.get("duplicates", ())
        found, duplicates = grouped(known, self.embeddings, scores, pools, other.calibration, repeating)
        return replace(other, found=found, duplicates=duplicates)

    def save(self, folder: str | Path, *, force: bool = False) -> None:
        """Writes a run folder; multiea.open brings it back."""
        from multiea.runs.saving import save

        save(self, Path(folder), force=force)

    @property
    def fingerprint(self) -> str:
        """A word that says which groups these are: the same groups over the same KGs have the same."""
        digest = hashlib.blake2b("\n".join(sorted(self.task.kg_names)).encode(), digest_size=8)
        of_known, of_found = replace(self, ids=None).group_ids()
        for group in sorted({*of_known, *of_found}):
            digest.update(f"\n{group}".encode())
        return digest.hexdigest()

    def export(self, to: str, out: str | Path, *, force: bool = False, **choices: Any) -> Written:
        """Writes it in a format others read: groups, sssom, same-as, alignment-rdf, merged, networkx, pyg.

        choices: closure, predicate, prefer, undo; each concerns some formats.
        """
        from multiea.exports.export import Choices, export

        return export(self, to, Path(out), Choices(**choices), force=force)

    def to_groups(self, out: str | Path, *, force: bool = False) -> Written:
        """Writes all members of all groups as .tsv, .csv, .jsonl or .parquet."""
        return self.export("groups", out, force=force)

    def to_sssom(self, out: str | Path, *, predicate: str = "owl:sameAs", force: bool = False) -> Written:
        """Writes mappings of all pairs as SSSOM TSV."""
        return self.export("sssom", out, predicate=predicate, force=force)

    def to_same_as(
        self, out: str | Path, *, closure: bool = False, prefer: Sequence[str] = (), force: bool = False
    ) -> Written:
        """Writes owl:sameAs triples as N-Triples."""
        return self.export("same-as", out, closure=closure, prefer=prefer, force=force)

    def to_alignment_rdf(self, out: str | Path, *, force: bool = False) -> Written:
        """Writes a folder with a file of the Alignment format for each pair of KGs."""
        return self.export("alignment-rdf", out, force=force)

    def to_merged(
        self, out: str | Path, *, prefer: Sequence[str] = (), undo: bool = True, force: bool = False
    ) -> Written:
        """Writes the merged KG as .nq or .parquet, and beside it what leads back to the originals."""
        return self.export("merged", out, prefer=prefer, undo=undo, force=force)

    def to_networkx(self, *, prefer: Sequence[str] = ()) -> Any:
        """The merged KG as a networkx MultiDiGraph."""
        from multiea.exports.canonical import canonical
        from multiea.exports.objects import to_networkx

        return to_networkx(self, canonical(self, prefer))

    def to_pyg(self, *, prefer: Sequence[str] = ()) -> Any:
        """The merged KG as PyTorch Geometric's Data."""
        from multiea.exports.canonical import canonical
        from multiea.exports.objects import to_pyg

        return to_pyg(self, canonical(self, prefer))

    def report(self, path: str | Path, *, metrics: Mapping[str, Any] | None = None, force: bool = False) -> None:
        """Writes one HTML page about it; metrics, as evaluate returns them, add the scores by rank."""
        from multiea.report.page import write_report
        from multiea.report.subject import Subject

        write_report(Subject(self, metrics=metrics or {}), Path(path), force=force)

    def _told(self) -> np.ndarray:
        """Which members of known groups were told, (groups, M); the others were found for open seeds."""
        return self.known.groups.members_in(self.task.seeds.joined(self.task.open_seeds.groups))

    def _long_table(self, found: FoundGroups, ids: list[str], told: np.ndarray) -> pl.DataFrame:
        names = found.groups.to_table(self.task.kgs)
        rows = []
        for column, kg in enumerate(self.task.kg_names):
            of_kg = pl.DataFrame({"group_id": ids, "kg": [kg] * len(ids), "entity": names.get_column(kg)}).with_columns(
                confidence=pl.Series(found.confidence[:, column], dtype=pl.Float64),
                status=_status(told[:, column]),
                order=pl.int_range(len(ids)),
            )
            rows.append(of_kg.filter(pl.col("entity").is_not_null()))
        return pl.concat(rows).sort("order", "kg").drop("order")

    def _pair_table(self, found: FoundGroups, of_groups: list[str], told: np.ndarray) -> pl.DataFrame:
        names = found.groups.to_table(self.task.kgs)
        ids = pl.Series("group_id", of_groups, dtype=pl.String)
        tables = []
        for a, b in combinations(range(len(self.task.kgs)), 2):
            rows = np.flatnonzero(found.groups.present[:, a] & found.groups.present[:, b])
            left, right = (self.task.kg_names[kg] for kg in (a, b))
            columns = {"order": rows, "group_id": ids.gather(rows), "left": names[left].gather(rows)}
            columns |= {"right": names[right].gather(rows), "confidence": found.of_pairs[rows, a, b]}
            columns |= {"matched": found.matched[rows, a, b], "status": _status((told[:, a] & told[:, b])[rows])}
            tables.append(pl.DataFrame(columns).with_columns(left_kg=pl.lit(left), right_kg=pl.lit(right)))
        order = ["group_id", "left_kg", "left", "right_kg", "right", "confidence", "matched", "status"]
        return pl.concat(tables).sort("order", "left_kg", "right_kg").select(order)

    def _table_of_duplicates(self, of_groups: list[str]) -> pl.DataFrame:
        more, kgs = self.duplicates, self.task.kgs
        ids = [of_groups[group] for group in more.group]
        entities = [kgs[kg].entities[int(entity)] for kg, entity in zip(more.kg, more.entity, strict=True)]
        columns = {"group_id": ids, "kg": [kgs[kg].name for kg in more.kg], "entity": entities}
        schema = {"group_id": pl.String, "kg": pl.String, "entity": pl.String}
        table = pl.DataFrame(columns, schema=schema)
        table = table.with_columns(confidence=pl.Series(more.confidence, dtype=pl.Float64), status=pl.lit("duplicate"))
        return table.sort("group_id", "kg", "entity")

    def __repr__(self) -> str:
        return f"Alignment('{self.task.name}': {len(self.task.seeds):,} seeds, {len(self.found.groups):,} groups found)"


def _status(told: np.ndarray) -> pl.Series:
    return pl.Series(np.where(told, "seed", "found"), dtype=pl.String)


def pool_similarities(
    task: Task,
    embeddings: Tensor,
    enhancement: Enhancement,
    pool: str | Sequence[np.ndarray],
    held_out: Groups,
    signatures: Signatures | None = None,
) -> tuple[Pairs, list[np.ndarray]]:
    """The scores of all pairs of KGs among a pool of candidates, and that pool, KG by KG.

    pool: `all`, `test`, or for each KG the entities themselves. Candidates stand in the order of their names, and KGs
    are compared in the order of theirs, so that nothing depends on how the data came.
    """
    sizes = [len(kg.entities) for kg in task.kgs]
    known = task.seeds.joined(task.open_seeds.groups)
    pools = pool_of_candidates(pool, sizes, known, held_out) if isinstance(pool, str) else pool
    pools = [chosen[np.argsort(place[chosen])] for chosen, place in zip(pools, places_by_name(task), strict=True)]
    by_name = sorted(range(len(sizes)), key=lambda kg: task.kgs[kg].name)
    starts = np.cumsum([0, *sizes])
    joint = [pools[kg] + starts[kg] for kg in by_name]
    candidates = [embeddings[torch.from_numpy(chosen).to(embeddings.device)].float() for chosen in joint]
    of_candidates = None if signatures is None else [signatures[chosen] for chosen in joint]
    scores = similarities(candidates, enhancement, of_candidates)
    return {(by_name[a], by_name[b]): matrix for (a, b), matrix in scores.items()}, pools


def grouped(
    task: Task,
    embeddings: Tensor,
    scores: Pairs,
    pools: Sequence[np.ndarray],
    calibration: Calibration,
    repeating: Sequence[str] = (),
) -> tuple[FoundGroups, Duplicates]:
    """The groups among candidates, and further members of KGs that repeat things.

    What has no embedding (all zero) is left alone.
    """
    numbers = sorted({task.kg_names.index(name) for name in repeating})
    matches = found_among(scores, pools, task, numbers)
    groups = joined(matches, task.kg_names)
    sizes = [len(kg.entities) for kg in task.kgs]
    reached = np.split(embeddings.any(dim=1).cpu().numpy(), np.cumsum(sizes)[:-1])
    inside, matched = scores_inside(groups, scores, pools), matched_inside(groups, matches)
    for column, of_kg in enumerate(reached):
        alone = groups.present[:, column] & ~of_kg[groups.members[:, column]]
        inside[alone, column] = inside[alone, :, column] = np.nan
        groups.members[alone, column] = ABSENT
    found = calibration.found(groups, inside, matched)
    return found, find_duplicates(found, scores, pools, torch.split(embeddings, sizes), task.seeds, numbers)


def found_among(scores: Pairs, pools: Sequence[np.ndarray], task: Task, repeating: Sequence[int] = ()) -> Matches:
    """Mutual best matches of a task's candidates."""
    return mutual_matches(scores, pools, places_by_name(task), repeating)


def group_ids(names: pl.DataFrame) -> list[str]:
    """An id for each group that depends on its members alone: the same group has the same id in every run."""
    kgs = sorted(names.columns)
    ids = []
    for row in zip(*(names.get_column(kg) for kg in kgs), strict=True):
        text = "\n".join(f"{kg}\t{entity}" for kg, entity in zip(kgs, row, strict=True) if entity is not None)
        ids.append(hashed_id(text))
    return ids
