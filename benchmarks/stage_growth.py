"""How the stages of aligning large KGs grow with entities, triples and KGs, as the code has it.

| stage | tasks | grows with |
|---|---|---|
| propagating, embedding, signing | one per KG | its triples: each edge is read in each hop |
| indexing | one per KG | its candidates |
| searching | per block of 131,072 candidates, both ways | its candidates; the index of the other KG as a whole |
| joining, normalising, adding paths | one per pair of KGs | candidates; paths also with the number of third KGs |
| comparing | per block of 131,072 candidates | its candidates; all embeddings of the other KG |
| the driver's own work | one | triples, entities, or scores of all pairs of KGs |

What each block reads of the other KG as a whole is known from the code: the index that `indexing` has written; the
embeddings. It takes CPU time too: reading embeddings copies them, and searching zeroes 64 arrays of the size of the
other KG. So these grow with the square of the entities. Everything else is measured and grows linearly, or with the
exponent that measured growth suggests. The number of rounds stays as measured. Candidates are the entities without
known group, which stay the same share. Where third KGs are more than measured, all of `adding paths` counts for each of
them, which is more than it takes. Evaluating is left out, as if nothing were held out: it compares that in the driver.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import cycle, islice

from measured_stages import BadInputError, MeasuredRun, Stage, Work
from multiea.engines.large_flow import sizes_of_many
from multiea.kernels.nearest_marks import CHUNKS
from multiea.settings.propagation import Propagation
from multiea.similarity.large_tasks import ROWS_AT_ONCE
from multiea.similarity.many_kgs import MANY
from multiea.tasks.cluster_checks import MAX_CPUS_OF_TASK
from noted_tasks import Noted

KG, PAIR, BLOCK, BLOCK_BOTH_WAYS, ALL_KGS, ALL_PAIRS = "kg", "pair", "block", "block both ways", "all kgs", "all pairs"
TRIPLES, ENTITIES = "triples", "entities"
PER_PAIR = {"lists", "pairs", "cosines", "direct", "scores"}  # kinds of shards; the others are per KG
LEFT_OUT = "evaluating"
PART_OF_MEMORY = 4  # a quarter of a task's memory may hold embeddings of the other KG


@dataclass(frozen=True)
class Growth:
    """tasks: for what there is one. by: triples or entities of a KG. through_thirds: whether also by third KGs."""

    tasks: str
    by: str = ENTITIES
    through_thirds: bool = False


GROWTH = {
    "propagating": Growth(KG, TRIPLES),
    "embedding": Growth(KG, TRIPLES),
    "signing": Growth(KG, TRIPLES),
    "indexing": Growth(KG),
    "searching": Growth(BLOCK_BOTH_WAYS),
    "joining": Growth(PAIR),
    "comparing": Growth(BLOCK),
    "normalising": Growth(PAIR),
    "adding paths": Growth(PAIR, through_thirds=True),
    "reading": Growth(ALL_KGS, TRIPLES),
    "preparing": Growth(ALL_KGS, TRIPLES),
    "grouping": Growth(ALL_PAIRS),
    "joining embeddings": Growth(ALL_KGS),
    "between stages": Growth(ALL_KGS),
    "saving": Growth(ALL_KGS),
}


@dataclass(frozen=True)
class Size:
    """entities, triples: of each KG."""

    entities: int
    triples: int
    kgs: int

    @property
    def pairs(self) -> int:
        """Of KGs."""
        return self.kgs * (self.kgs - 1) // 2


@dataclass(frozen=True)
class Scaling:
    """From a measured run to another size. exponent: of CPU seconds. task_memory: bytes that a task may use.

    smaller: a run of the same kind with fewer entities, which shows what part of the memory grows; without it, all.
    dimensions: of marks at the other size; by default those that multiea chooses there.
    """

    run: MeasuredRun
    size: Size
    exponent: float = 1.0
    task_memory: float = float("inf")
    smaller: MeasuredRun | None = None
    dimensions: int | None = None

    def __post_init__(self) -> None:
        run, size = self.run, self.size
        if not 2 <= size.kgs <= MANY or min(size.entities, size.triples) < 1:
            raise BadInputError(f"sizes must be positive, KGs 2 to {MANY}: with more, multiea keeps fewer candidates")
        if run.kgs == 2 and size.kgs > 2:
            raise BadInputError("the run was measured with two KGs, between which there are no paths; measure three")
        wanted = self.dimensions or sizes_of_many(Propagation(), size.kgs * size.entities).dimensions
        if wanted != run.dimensions and size != self.measured:
            raise BadInputError(
                f"the run was measured with {run.dimensions} dimensions, that size has {wanted}; measure with "
                f"--dimensions {wanted}"
            )
        less = self.smaller
        if less is not None and (less.kgs, less.dimensions) != (run.kgs, run.dimensions):
            raise BadInputError("the smaller run has other KGs or other dimensions; both must be the same")
        if less is not None and not less.entities < run.entities:
            raise BadInputError(f"the smaller run has {less.entities:,} entities, the other {run.entities:,}")
        unknown = {task.stage for task in run.tasks} - {*GROWTH, LEFT_OUT}
        if unknown:
            raise BadInputError(f"stages whose growth is not known: {', '.join(sorted(unknown))}")

    @property
    def measured(self) -> Size:
        """The size of the measured run."""
        return Size(self.run.entities, self.run.triples, self.run.kgs)

    @property
    def factor(self) -> float:
        """How many times as many entities a KG has."""
        return self._ratio(ENTITIES)

    @property
    def candidates(self) -> float:
        """Of a KG, on average, in the first round: its entities without known group."""
        first = next((task.round for task in self.run.tasks if task.stage == "comparing"), None)
        rows = sum(task.rows or 0 for task in self.run.tasks if (task.stage, task.round) == ("comparing", first))
        return rows * self.factor / self.measured.pairs

    def stages(self) -> list[Stage]:
        """All stages at the wanted size, in their order."""
        indexes = {task.round: task.written for task in self.run.tasks if task.stage == "indexing"}
        stages = []
        for some in self.run.groups_of_tasks():
            if some[0].stage == LEFT_OUT:
                continue
            works = list(self._works(some, indexes.get(some[0].round, 0)))
            if works:
                stages.append(Stage(some[0].stage, some[0].round, some[0].by_driver, works))
        return stages

    def disk(self) -> dict[str, float]:
        """The bytes of the shards by kind when they take most, with those of the run folder."""
        moments = [
            {kind: size * self._disk_factor(kind) for kind, size in moment["bytes"].items()} for moment in self.run.disk
        ]
        saved = sum(work.written for stage in self.stages() if stage.name == "saving" for work in stage.works)
        return max(moments, key=lambda moment: sum(moment.values())) | {"run folder": saved}

    def _disk_factor(self, kind: str) -> float:
        if kind in PER_PAIR:
            return self._ratio(ENTITIES) * self.size.pairs / self.measured.pairs
        return self._ratio(TRIPLES if kind == "edges" else ENTITIES) * self.size.kgs / self.measured.kgs

    def _ratio(self, by: str) -> float:
        return float(getattr(self.size, by) / getattr(self.measured, by))

    def _works(self, tasks: list[Noted], index: int) -> Iterator[Work]:
        growth, size = GROWTH[tasks[0].stage], self.size
        if growth.tasks in (BLOCK, BLOCK_BOTH_WAYS):
            yield from self._blocks(tasks, index, 1 if growth.tasks == BLOCK else 2)
            return
        factor, thirds, growing = self._ratio(growth.by), 1.0, self._growing_memory(tasks[0].stage)
        if growth.through_thirds:
            thirds = (size.kgs - 2) / (self.run.kgs - 2)
        count = {KG: size.kgs, PAIR: size.pairs if thirds else 0}.get(growth.tasks, len(tasks))
        over = {ALL_KGS: size.kgs / self.run.kgs, ALL_PAIRS: size.pairs / self.measured.pairs}.get(growth.tasks, 1.0)
        room = size.kgs / self.run.kgs if tasks[0].by_driver else thirds
        slower = factor ** (self.exponent - 1)
        for task in islice(cycle(tasks), count):
            work, moved = self.run.work_of(task), factor * over * thirds
            yield Work(
                work.serial * moved * slower,
                work.parallel * moved * slower,
                work.read * moved,
                work.written * factor * over,
                work.memory * (1 - growing + growing * factor * room),
            )

    def _growing_memory(self, stage: str) -> float:
        """The share of the memory of a task that grows with entities; the rest is there at any size."""
        if self.smaller is None:
            return 1.0
        most, before = (
            max((task.memory for task in run.tasks if task.stage == stage), default=0)
            for run in (self.run, self.smaller)
        )
        doubled = self.run.entities / (self.run.entities - self.smaller.entities)
        return min(1.0, max(0.0, (most - before) * doubled / most)) if most else 1.0

    def _blocks(self, tasks: list[Noted], index: int, ways: int) -> Iterator[Work]:
        """Tasks for blocks of rows; those of a pair of KGs follow each other."""
        factor, measured = self._ratio(ENTITIES), sum(task.rows or 0 for task in tasks) / (ways * self.measured.pairs)
        rows = round(measured * factor)
        sizes = [ROWS_AT_ONCE] * (rows // ROWS_AT_ONCE) + [rows % ROWS_AT_ONCE] * (rows % ROWS_AT_ONCE > 0)
        block = self._block_to_search if ways == 2 else self._block_to_compare
        for task, own in zip(cycle(tasks), sizes * (ways * self.size.pairs), strict=False):
            yield block(task, own, measured, index)

    def _block_to_search(self, task: Noted, own: int, others: float, index: int) -> Work:
        """The index and the number of the others as a whole; scratch memory for all others, zeroed in each chunk."""
        whole, scratch, factor = index + 8 * others, 8 * others, self._ratio(ENTITIES)
        zeroing = CHUNKS * 4 * others / self.run.bytes_per_second["zeroed"]
        held = scratch * self.run.threads, scratch * factor * MAX_CPUS_OF_TASK
        return self._block(task, own, Work(0.0, zeroing, whole, 0.0, held[0]), held[1])

    def _block_to_compare(self, task: Noted, own: int, others: float, index: int) -> Work:
        """All embeddings of the others, with their scales, and which of them are candidates; these are mapped."""
        rows = (self.run.width + 4) * others
        whole = rows + 2 * 8 * others
        held = min(rows * self._ratio(ENTITIES), self.task_memory / PART_OF_MEMORY)
        return self._block(task, own, Work(whole / self.run.bytes_per_second["read"], 0.0, whole, 0.0, rows), held)

    def _block(self, task: Noted, own: int, whole: Work, held: float) -> Work:
        """What is for the rows, as measured, and what is for the other KG as a whole; held: its memory at this size."""
        work, factor, rows = self.run.work_of(task), self._ratio(ENTITIES), own / max(task.rows or 0, 1)
        slower = factor ** (self.exponent - 1)
        return Work(
            max(work.serial - whole.serial, 0) * rows * slower + whole.serial * factor,
            max(work.parallel - whole.parallel, 0) * rows * slower + whole.parallel * factor,
            max(work.read - whole.read, 0) * rows + whole.read * factor,
            work.written * rows,
            max(work.memory - whole.memory, 0) * rows + held,
        )
