"""load: reads any supported data set into a Task."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from multiea.data.archives import is_archive, unpacked_data_set
from multiea.data.knowledge_graph import KnowledgeGraph
from multiea.data.origin import EMBEDDED, Origin
from multiea.data.raw_dataset import RawDataset
from multiea.data.readers import read_given_groups, read_kg, stem_and_format
from multiea.data.readers.folder import read_dataset_toml, read_native_folder
from multiea.data.readers.pairs import is_dbp15k, openea_root, read_dbp15k, read_openea
from multiea.data.readers.record_ids import one_warning_for_all_tables
from multiea.data.role_choices import by_role, check_roles, refuse_unknown_roles, with_names_by_values
from multiea.data.tables_in_memory import read_tables
from multiea.data.task import Task
from multiea.foundation.errors import InputError, counted
from multiea.settings.data import DEFAULT_TRAIN_RATIO, Data

log = logging.getLogger("multiea")
SOURCE_EXPECTED = 'a path, several, or tables by name such as {"a": table, "b": table}'


def load(
    source: str | Path | Sequence[str | Path] | Mapping[str, Any],
    *,
    seeds: Any = None,
    train_ratio: float | None = None,
    validation_ratio: float = 0.0,
    random_state: int = 0,
    lenient: bool = False,
    roles: Mapping[str, str] | None = None,
) -> Task:
    """Reads a data set: a folder, an archive of one, a dataset.toml, 'world', or several files, one per KG.

    In memory: {"a": table, "b": table} with polars or pandas tables of records or triples, or KnowledgeGraphs. seeds: a
    file; with tables also Groups, a table with one column per KG, or a list such as [{"a": "x", "b": "y"}].

    Known groups without a split (groups.tsv, ent_links, ref_ent_ids alone) are split by train_ratio (0.3 unless given);
    the rest is held out. A data set that defines its seeds keeps them unless train_ratio is given. validation_ratio is
    the share of the known groups, or of fixed seeds, that become validation groups. roles: "name", "attribute" or
    "ignore" for properties or columns, in all KGs that have them.
    """
    start = time.perf_counter()
    check_roles(roles)
    warnings = _Warnings()
    log.addHandler(warnings)
    try:
        with one_warning_for_all_tables():
            raw = _read(source, seeds, lenient=lenient, roles=roles)
        refuse_unknown_roles(raw.kgs, roles)
        raw = replace(raw, kgs=with_names_by_values(raw.kgs, in_memory=isinstance(source, Mapping)))
    except OSError as error:  # a path that the system refuses, such as one that is too long
        place = error.filename or (source if isinstance(source, str | Path) else " ".join(map(str, source)))
        raise InputError(f"cannot be read: {error.strerror or error}", path=place) from None
    finally:
        log.removeHandler(warnings)
    task = _with_split(raw, train_ratio, validation_ratio, random_state)
    data = Data(name=task.name)
    if not isinstance(source, Mapping):  # tables in memory cannot be read again
        is_split = "groups" in raw.groups or train_ratio is not None or validation_ratio > 0
        data = Data(
            name=task.name,
            source=(str(source),) if isinstance(source, str | Path) else tuple(map(str, source)),
            seeds=None if seeds is None else str(seeds),
            train_ratio=train_ratio,
            validation_ratio=validation_ratio or None,
            random_state=random_state if is_split else None,
            lenient=lenient,
            **by_role(roles),
        )
    origin = Origin(data.with_absolute_paths(), tuple(warnings.messages), time.perf_counter() - start)
    return Task(task.kgs, task.seeds, task.held_out, task.validation, name=task.name, origin=origin)


def _with_split(raw: RawDataset, train_ratio: float | None, validation_ratio: float, random_state: int) -> Task:
    """A task whose known groups are split into seeds, validation and held-out groups."""
    groups = raw.groups
    if "groups" in groups and "seeds" in groups:
        raise InputError(
            f"'{raw.name}' has both groups (to be split) and seeds (all for learning)",
            expected="one of the two",
            hint="Remove one, or rename groups to held_out if it has the groups for evaluation",
        )
    is_unsplit = "groups" in groups
    held_out = groups.get("groups" if is_unsplit else "held_out")
    task = Task(raw.kgs, groups.get("seeds"), held_out, groups.get("validation"), name=raw.name)
    if is_unsplit or train_ratio is not None:
        if not is_unsplit and len(task.held_out):
            log.warning("'%s' defines its held-out groups; train_ratio splits all its groups again", raw.name)
        return task.split(DEFAULT_TRAIN_RATIO if train_ratio is None else train_ratio, validation_ratio, random_state)
    if not validation_ratio:
        return task
    seeds = Task(task.kgs, task.seeds).split(1 - validation_ratio, random_state=random_state)
    return Task(task.kgs, seeds.seeds, task.held_out, task.validation.joined(seeds.held_out), name=task.name)


class _Warnings(logging.Handler):
    """Keeps the warnings of the readers, so that they stay with the task.

    logging itself prints a warning that nobody handles; since this handler does, it passes such a warning on.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())
        if logging.lastResort is not None and not self._others():
            logging.lastResort.handle(record)

    def _others(self) -> bool:
        """Whether another handler receives what is logged."""
        logger: logging.Logger | None = log
        while logger is not None:
            if any(handler is not self for handler in logger.handlers):
                return True
            logger = logger.parent if logger.propagate else None
        return False


def _read(source: Any, seeds: Any, *, lenient: bool, roles: Mapping[str, str] | None) -> RawDataset:
    if isinstance(source, Mapping):
        return read_tables(source, seeds, lenient=lenient, roles=roles)
    if seeds is not None and not isinstance(seeds, str | Path):
        raise InputError(
            f"seeds given as {type(seeds).__name__}",
            expected="a file, because the KGs are read from files",
            hint="Otherwise task = multiea.load(...) without seeds, and "
            "multiea.Task(task.kgs, multiea.Groups.from_names(task.kgs, seeds), task.held_out)",
        )
    seeds = None if seeds is None else Path(seeds)
    if not isinstance(source, str | Path):
        if not isinstance(source, Sequence):
            raise InputError(f"a data set given as {type(source).__name__}", expected=SOURCE_EXPECTED)
        wrong = next((one for one in source if not isinstance(one, str | Path)), None)
        if wrong is not None:
            found = f"a data set given as {type(source).__name__} of {type(wrong).__name__}"
            raise InputError(found, expected=SOURCE_EXPECTED)
        if not source:
            raise InputError("a data set of no files", expected=SOURCE_EXPECTED)
        if len(source) != 1:
            return _read_files([Path(file) for file in source], seeds, lenient=lenient, roles=roles)
        source = source[0]
    parts = _read_one(source, lenient=lenient, roles=roles)
    if seeds is not None:
        kept = {role: groups for role, groups in parts.groups.items() if role == "held_out"}
        for role in parts.groups.keys() - kept.keys():
            number = counted(len(parts.groups[role]), "group")
            log.warning(
                "%s: %s of the data set's %s not used, since seeds were given separately", parts.name, number, role
            )
        parts = RawDataset(
            parts.name, parts.kgs, {"seeds": read_given_groups(seeds, parts.kgs, lenient=lenient)} | kept
        )
    return parts


def _read_one(source: str | Path, *, lenient: bool, roles: Mapping[str, str] | None) -> RawDataset:
    if "\0" in str(source):
        raise InputError(f"the path {str(source)!r}", expected="a path without a zero byte")
    path = EMBEDDED.get(str(source), Path(source))
    if str(source) in EMBEDDED and Path(source).is_dir():
        log.warning("'%s' is the embedded data set; for the folder of that name write ./%s", source, source)
    if path.suffix == ".toml":
        return read_dataset_toml(path, lenient=lenient, roles=roles)
    if not path.exists():
        raise InputError(
            f"no data set '{source}'",
            expected=f"a folder, a dataset.toml, or an embedded data set: {', '.join(EMBEDDED)}",
            hint="Check the spelling and the folder",
        )
    if is_archive(path):
        with unpacked_data_set(path) as folder:
            return _read_folder(folder, lenient=lenient, roles=roles)
    if path.is_file():
        raise InputError(
            "a single file is not a data set",
            path=path,
            expected="at least two KGs",
            hint="Name a folder with one file per KG, or several files",
        )
    return _read_folder(path, lenient=lenient, roles=roles)


def _read_folder(path: Path, *, lenient: bool, roles: Mapping[str, str] | None) -> RawDataset:
    if (path / "dataset.toml").is_file():
        return read_dataset_toml(path / "dataset.toml", lenient=lenient, roles=roles)
    if openea_root(path) is not None:
        return read_openea(path, lenient=lenient)
    if is_dbp15k(path):
        return read_dbp15k(path, lenient=lenient)
    return read_native_folder(path, lenient=lenient, roles=roles)


def read_one_kg(
    files: Sequence[Path], name: str | None = None, roles: Mapping[str, str] | None = None
) -> KnowledgeGraph:
    """One KG from its files, named after the first unless it has another name."""
    known = stem_and_format(files[0])
    return read_kg(name or (files[0].stem if known is None else known[0]), files, general_roles=roles)


def _read_files(
    files: Sequence[Path], seeds: Path | None, *, lenient: bool, roles: Mapping[str, str] | None
) -> RawDataset:
    """Several files, one per KG, which is named after its file."""
    kgs = [read_one_kg([path], roles=roles) for path in files]
    Task(kgs)  # two KGs of one name, or too few, before the seeds are read
    groups = {} if seeds is None else {"seeds": read_given_groups(seeds, kgs, lenient=lenient)}
    return RawDataset(" + ".join(kg.name for kg in kgs), kgs, groups)
