"""export: one way to all formats, by name."""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from multiea.exports import merged as merging
from multiea.exports.canonical import Canonical, canonical
from multiea.exports.group_tables import TABLES
from multiea.exports.objects import library, to_networkx, to_pyg
from multiea.exports.pair_tables import write_alignment_rdf, write_sssom
from multiea.exports.same_as import write_same_as
from multiea.foundation.atomic_files import new_file, new_folder, refuse_existing_file
from multiea.foundation.errors import OutputError, SettingError, counted, resolve
from multiea.grouping.alignment import AlignmentResult
from multiea.runs.files import folders_grown_from, read_run_settings
from multiea.runs.run import Run

log = logging.getLogger("multiea")


@dataclass(frozen=True)
class Choices:
    """What a user may choose; each concerns some formats.

    closure: all pairs instead of a star (same-as). predicate: owl:sameAs or skos:exactMatch (sssom). prefer: KGs whose
    members stand for their groups, the first first (same-as, merged). undo: whether to write what leads back (merged).
    """

    closure: bool = False
    predicate: str = "owl:sameAs"
    prefer: Sequence[str] = ()
    undo: bool = True


@dataclass(frozen=True)
class Written:
    """What was written: the files, how many records of what, and how many names had to be encoded."""

    files: tuple[Path, ...]
    records: int
    what: str
    encoded: int = 0


def export(run: Run, to: str, out: Path, choices: Choices | None = None, *, force: bool = False) -> Written:
    """Writes a run in one of FORMATS to a file, or for alignment-rdf to a folder."""
    chosen = Choices() if choices is None else choices
    write = resolve(to, FORMATS, what="format")
    _refuse_folder_of_data(run, out)
    written = write(run.alignment, out, chosen, force)
    if written.encoded:
        log.warning(
            "%s that are no IRIs are written as urn:multiea:..., percent-encoded; reading back restores them",
            counted(written.encoded, "name"),
        )
    return written


def _refuse_folder_of_data(run: Run, out: Path) -> None:
    """A file in the folder of the data set would be read as a part of it the next time."""
    before = run.alignment.settings.data.grown_from
    earlier = [] if before is None else [read_run_settings(folder).data for folder in folders_grown_from(before)]
    for source in [*run.sources, *(place for data in earlier for place in data.source)]:
        if Path(source).is_dir() and out.resolve().parent == Path(source).resolve():
            raise OutputError(f"{out} is in the folder of the data set and would be read with it; choose another place")


def _groups(alignment: AlignmentResult, out: Path, choices: Choices, force: bool) -> Written:
    write = TABLES.get(out.suffix.lower())
    if write is None:
        raise OutputError(f"{out}: unknown kind of table '{out.suffix}'; choose one of: {', '.join(TABLES)}")
    table = alignment.groups
    with new_file(out, force=force) as draft:
        write(table, draft)
    return Written((out,), len(table), "member")


def _refuse_ending(out: Path, ending: str, what: str) -> None:
    if out.suffix.lower() != ending:
        raise OutputError(f"{out}: {what} written as {ending}")


def _sssom(alignment: AlignmentResult, out: Path, choices: Choices, force: bool) -> Written:
    _refuse_ending(out, ".tsv", "SSSOM mappings are")
    with new_file(out, force=force) as draft:
        count = write_sssom(alignment, draft, predicate=choices.predicate)
    return Written((out,), count, "mapping", _names(alignment, choices).encoded_members())


def _same_as(alignment: AlignmentResult, out: Path, choices: Choices, force: bool) -> Written:
    _refuse_ending(out, ".nt", "owl:sameAs triples are")
    names = _names(alignment, choices)
    with new_file(out, force=force) as draft:
        count = write_same_as(names, draft, closure=choices.closure)
    return Written((out,), count, "triple", names.encoded_members())


def _alignment_rdf(alignment: AlignmentResult, out: Path, choices: Choices, force: bool) -> Written:
    with new_folder(out, "folder of alignments", force=force) as draft:
        count = write_alignment_rdf(alignment, draft)
        files = tuple(out / path.name for path in sorted(draft.iterdir()))
    return Written(files, count, "cell", _names(alignment, choices).encoded_members())


def _merged(alignment: AlignmentResult, out: Path, choices: Choices, force: bool) -> Written:
    kinds = {".nq": merging.write_nquads, ".parquet": merging.write_parquet}
    write = kinds.get(out.suffix.lower())
    if write is None:
        raise OutputError(f"{out}: a merged KG is written as one of: {', '.join(kinds)}")
    names = _names(alignment, choices)
    entities, facts = (out.with_name(f"{out.name}.undo-{kind}.parquet") for kind in ("entities", "facts"))
    for path in (out, entities, facts) if choices.undo else (out,):
        refuse_existing_file(path, force=force)
    files = [out]
    with new_file(out, force=force) as draft:
        count = write(alignment, names, draft)
        if choices.undo:
            for path, table in (
                (entities, merging.undo_table(alignment, names)),
                (facts, merging.undo_facts(alignment, names)),
            ):
                with new_file(path, force=force) as other:
                    table.write_parquet(other)
                files.append(path)
    what = "quad" if out.suffix.lower() == ".nq" else "fact"
    return Written(tuple(files), count, what, merging.encoded(alignment, names))


def _networkx(alignment: AlignmentResult, out: Path, choices: Choices, force: bool) -> Written:
    _refuse_ending(out, ".graphml", "a networkx graph is")
    names = _names(alignment, choices)
    graph = to_networkx(alignment, names)
    for *_, about in graph.edges(data=True):
        about["sources"] = json.dumps(about["sources"], ensure_ascii=False)  # GraphML has no lists
    with new_file(out, force=force) as draft:
        library("networkx").write_graphml(graph, draft)
    return Written((out,), graph.number_of_edges(), "edge", merging.encoded(alignment, names))


def _pyg(alignment: AlignmentResult, out: Path, choices: Choices, force: bool) -> Written:
    import torch

    _refuse_ending(out, ".pt", "a PyTorch Geometric graph is")
    names = _names(alignment, choices)
    data = to_pyg(alignment, names)
    content = io.BytesIO()
    torch.save(data, content)
    with new_file(out, force=force) as draft:
        draft.write_bytes(content.getbuffer())
    return Written((out,), int(data.edge_index.shape[1]), "edge", merging.encoded(alignment, names))


def _names(alignment: AlignmentResult, choices: Choices) -> Canonical:
    return canonical(alignment, choices.prefer)


FORMATS: dict[str, Callable[[AlignmentResult, Path, Choices, bool], Written]] = {
    "groups": _groups,
    "sssom": _sssom,
    "same-as": _same_as,
    "alignment-rdf": _alignment_rdf,
    "merged": _merged,
    "networkx": _networkx,
    "pyg": _pyg,
}
WITH_TRIPLES = ("merged", "networkx", "pyg")
CONCERNS = {
    "closure": ("same-as",),
    "predicate": ("sssom",),
    "prefer": ("same-as", "merged", "networkx", "pyg"),
    "undo": ("merged",),
    "data": WITH_TRIPLES,
}


def refuse_unused(to: str, given: Sequence[str]) -> None:
    """Options that would change nothing are said instead of ignored."""
    for name in given:
        if name in CONCERNS and to not in CONCERNS[name]:
            raise SettingError(f"--{name} changes nothing with --to {to}; it is for {', '.join(CONCERNS[name])}")
