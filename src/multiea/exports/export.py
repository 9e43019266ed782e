"""export: writes a run in one of FORMATS.

To add a format, write a module with a function that writes it, wrap that in a writer here, and enter it in FORMATS.
"""

from __future__ import annotations

import io
import json
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from multiea.exports.alignment_rdf import write_alignment_rdf
from multiea.exports.choices import Choices, Written
from multiea.exports.graph_objects import import_extra, to_networkx, to_pyg
from multiea.exports.group_tables import TABLES
from multiea.exports.merged_files import MERGED_FILES
from multiea.exports.merged_graph import count_encoded
from multiea.exports.representatives import merged_names
from multiea.exports.same_as import write_same_as
from multiea.exports.sssom import write_sssom
from multiea.exports.undo_tables import undo_entities, undo_facts
from multiea.foundation.atomic_files import new_file, new_folder, refuse_existing, refuse_existing_file
from multiea.foundation.errors import OutputError, SettingError, counted, resolve
from multiea.runs.files import folders_grown_from, read_run_settings
from multiea.runs.run import Run

log = logging.getLogger("multiea")
ALIGNMENT_FOLDER = "folder of alignments"


@dataclass(frozen=True)
class Format:
    """A format of FORMATS.

    write: the function that writes a run. endings: the file endings it accepts; none if it writes a folder. options:
    the options that have an effect on it, as on the command line: fields of Choices, and `data`, the place of the data
    set, for formats that need the triples.
    """

    write: Callable[[Run, Path, Choices, bool], Written]
    endings: tuple[str, ...] = ()
    options: tuple[str, ...] = ()

    @property
    def needs_triples(self) -> bool:
        """Whether the run must be opened with its triples."""
        return "data" in self.options


def export(run: Run, to: str, out: Path, choices: Choices | None = None, *, force: bool = False) -> Written:
    """Writes a run in the format `to`, a key of FORMATS, as a file or (alignment-rdf) a folder."""
    chosen = resolve(to, FORMATS, what="format")
    _refuse_wrong_ending(to, out)
    _refuse_folder_of_data(run, out)
    written = chosen.write(run, out, Choices() if choices is None else choices, force)
    if written.encoded:
        log.warning(
            "%s written as percent-encoded urn:multiea IRIs, not being IRIs; reading them back restores the ids",
            counted(written.encoded, "id"),
        )
    return written


def refuse_existing_output(to: str, out: Path, *, force: bool = False) -> None:
    """Raises an error early, before the run is opened, if `out` cannot be written."""
    if FORMATS[to].endings:
        refuse_existing_file(out, force=force)
    else:
        refuse_existing(out, ALIGNMENT_FOLDER, force=force)


def refuse_unused_options(to: str, given: Sequence[str]) -> None:
    """Refuses options that have no effect on a format, instead of ignoring them."""
    for option in given:
        users = [name for name, one in FORMATS.items() if option in one.options]
        if users and to not in users:
            name = option.replace("_", "-")
            raise SettingError(f"--{name} has no effect with --to {to}; it is for --to {', '.join(users)}")


def _refuse_wrong_ending(to: str, out: Path) -> None:
    endings = FORMATS[to].endings
    if endings and out.suffix.lower() not in endings:
        raise OutputError(f"{out}: a file of format {to} must end in {' or '.join(endings)}")


def _refuse_folder_of_data(run: Run, out: Path) -> None:
    """Refuses a file in the folder of the data set: it would be read as a part of it next time."""
    grown_from = run.alignment.settings.data.grown_from
    earlier = [] if grown_from is None else [read_run_settings(one).data for one in folders_grown_from(grown_from)]
    for source in [*run.sources, *(source for data in earlier for source in data.source)]:
        if Path(source).is_dir() and out.resolve().parent == Path(source).resolve():
            raise OutputError(f"{out} is in the folder of the data set and would be read with it; choose another place")


def _write_groups(run: Run, out: Path, choices: Choices, force: bool) -> Written:
    table = run.alignment.groups
    with new_file(out, force=force) as draft:
        TABLES[out.suffix.lower()](table, draft)
    return Written((out,), len(table), "member")


def _write_sssom(run: Run, out: Path, choices: Choices, force: bool) -> Written:
    with new_file(out, force=force) as draft:
        count = write_sssom(run, draft, predicate=choices.predicate)
    return Written((out,), count, "mapping", merged_names(run).encoded_members())


def _write_same_as(run: Run, out: Path, choices: Choices, force: bool) -> Written:
    names = merged_names(run, choices.prefer)
    with new_file(out, force=force) as draft:
        count = write_same_as(names, draft, closure=choices.closure)
    return Written((out,), count, "triple", names.encoded_members())


def _write_alignment_rdf(run: Run, out: Path, choices: Choices, force: bool) -> Written:
    with new_folder(out, ALIGNMENT_FOLDER, force=force) as draft:
        count = write_alignment_rdf(run, draft)
        files = tuple(out / path.name for path in sorted(draft.iterdir()))
    return Written(files, count, "cell", merged_names(run).encoded_members())


def _write_merged(run: Run, out: Path, choices: Choices, force: bool) -> Written:
    record, write = MERGED_FILES[out.suffix.lower()]
    names = merged_names(run, choices.prefer)
    tables = {"entities": undo_entities, "facts": undo_facts} if choices.undo else {}
    undo_files = {out.with_name(f"{out.name}.undo-{kind}.parquet"): table for kind, table in tables.items()}
    for path in (out, *undo_files):
        refuse_existing_file(path, force=force)
    with new_file(out, force=force) as draft:
        count = write(run, names, draft)
        for path, table in undo_files.items():
            with new_file(path, force=force) as undo_draft:
                table(run, names).write_parquet(undo_draft)
    return Written((out, *undo_files), count, record, count_encoded(run, names))


def _write_networkx(run: Run, out: Path, choices: Choices, force: bool) -> Written:
    names = merged_names(run, choices.prefer)
    graph = to_networkx(run, names)
    for *_, attributes in graph.edges(data=True):
        attributes["sources"] = json.dumps(attributes["sources"], ensure_ascii=False)  # GraphML has no lists
    with new_file(out, force=force) as draft:
        import_extra("networkx").write_graphml(graph, draft)
    return Written((out,), graph.number_of_edges(), "edge", count_encoded(run, names))


def _write_pyg(run: Run, out: Path, choices: Choices, force: bool) -> Written:
    names = merged_names(run, choices.prefer)
    data = to_pyg(run, names)
    content = io.BytesIO()
    torch.save(data, content)
    with new_file(out, force=force) as draft:
        draft.write_bytes(content.getbuffer())
    return Written((out,), int(data.edge_index.shape[1]), "edge", count_encoded(run, names))


FORMATS = {
    "groups": Format(_write_groups, tuple(TABLES)),
    "sssom": Format(_write_sssom, (".tsv",), options=("predicate",)),
    "same-as": Format(_write_same_as, (".nt",), options=("closure", "prefer")),
    "alignment-rdf": Format(_write_alignment_rdf),
    "merged": Format(_write_merged, tuple(MERGED_FILES), options=("prefer", "undo", "data")),
    "networkx": Format(_write_networkx, (".graphml",), options=("prefer", "data")),
    "pyg": Format(_write_pyg, (".pt",), options=("prefer", "data")),
}
OPTIONS = tuple(dict.fromkeys(option for one in FORMATS.values() for option in one.options))
