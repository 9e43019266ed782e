"""Settings: all that decides a run, from defaults, a file and the command line; each error names where it comes from.

The keys and their types are the fields of the dataclasses here and of those that engines are set by.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from multiea.data.load import load
from multiea.data.source import EMBEDDED, lasting
from multiea.data.task import Task, check_random_state
from multiea.engines.encoder_embeddings import PROPAGATION
from multiea.engines.propagation import Propagation
from multiea.engines.training import Training
from multiea.foundation.errors import InputError, SettingError, check_share, resolve
from multiea.pipeline.adding import load_grown
from multiea.pipeline.bootstrapping import Bootstrapping
from multiea.settings.fields import explanations, setting, told
from multiea.settings.how import DEVICES, check_engine, default_enhancement, unused_settings, usual_training
from multiea.settings.parsing import Given, blamed_on, in_toml, replaced, tables_and_keys, values_of
from multiea.similarity.enhancement import Enhancement

FILE_OF_A_RUN = "config.toml"
TOLD = "data.name"  # what a run says and nobody sets
PATHS = ("seeds", "previous", "grown_from", "held_out")  # those of data, besides its source


@dataclass(frozen=True)
class Data:
    """Which data set, and how it is read."""

    name: str | None = setting(None, "What the data set is called; a run tells it, it is not set.")
    source: tuple[str, ...] = setting(
        (), "A folder, a dataset.toml, 'world', or several files, one a KG; paths are relative to this file."
    )
    seeds: str | None = setting(None, "A file of known groups to learn from: TSV, CSV, SSSOM or owl:sameAs.")
    train_ratio: float | None = setting(
        None, "Share of known groups to learn from; by default 0.3, unless the data set says which these are."
    )
    lenient: bool = setting(False, "Whether groups' entities that their KG does not have are dropped.")
    previous: str | None = setting(None, "An earlier run, whose group ids are carried on.")
    grown_from: str | None = setting(
        None, "An earlier run that a KG is added to; source then names the files of that KG alone."
    )
    kg_name: str | None = setting(None, "What the KG that is added is called; by default as its first file.")
    held_out: str | None = setting(None, "A file of known groups to score with, where a KG is added.")

    def __post_init__(self) -> None:
        if self.train_ratio is not None:
            check_share("train_ratio", self.train_ratio)
        unfit = ("train_ratio", "previous") if self.grown_from is not None else ("kg_name", "held_out")
        for name in unfit:
            if getattr(self, name) is not None:
                goes = "does not go" if self.grown_from is not None else "only goes"
                raise SettingError(f"data.{name} {goes} with data.grown_from, a run that a KG is added to")

    def lasting(self) -> Data:
        """The same, found again from any folder."""
        paths: dict[str, Any] = {name: lasting(path) for name in PATHS if (path := getattr(self, name)) is not None}
        return replace(self, source=tuple(map(lasting, self.source)), **paths)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All settings of a run.

    settings = Settings.read("multiea.toml")
    alignment = multiea.align(settings.load(), **settings.arguments())
    """

    engine: str = setting(
        PROPAGATION, "What turns KGs into embeddings: propagation, an encoder to train, or both: propagation+multiea."
    )
    random_state: int = setting(0, "The same number gives the same result.")
    device: str = setting("auto", "auto, cpu or cuda.")
    pairwise: bool = setting(False, "Whether the encoder is trained for each pair of KGs alone.")
    fusion_weight: float = setting(0.2, "What the encoder counts in propagation+multiea, from 0 to 1.")
    duplicates: tuple[str, ...] = setting((), "Names of KGs that hold some things more than once.")
    data: Data
    enhancement: Enhancement
    propagation: Propagation
    bootstrap: Bootstrapping
    training: Training

    def __post_init__(self) -> None:
        check_engine(self.engine)
        check_random_state(self.random_state)
        resolve(self.device, DEVICES, what="device")
        check_share("fusion_weight", self.fusion_weight)

    @classmethod
    def usual(cls, engine: str = PROPAGATION, mode: str = Enhancement.mode) -> Settings:
        """The settings of an engine unless others are given."""
        return cls(
            engine=engine,
            data=Data(),
            enhancement=default_enhancement(engine, mode),
            propagation=Propagation(),
            bootstrap=Bootstrapping(),
            training=usual_training(engine),
        )

    @classmethod
    def read(cls, path: str | Path) -> Settings:
        """The settings of a TOML file, or of a run folder; what it does not say is as usual."""
        return cls.of(from_file(path))

    @classmethod
    def of(cls, given: Iterable[Given]) -> Settings:
        """What is usual for the engine, and what was given instead; of two values of a key the later one counts."""
        last = {one.key: one for one in given}
        engine, mode = last.get("engine"), last.get("enhancement.mode")
        with blamed_on(engine):
            unused = unused_settings(engine.value if engine else cls.engine)
        with blamed_on(mode):
            usual = cls.usual(engine.value if engine else cls.engine, mode.value if mode else Enhancement.mode)
        for name, instead in unused.items():
            for one in last.values():
                if one.key.split(".")[0] == name:
                    raise SettingError(
                        f"{one.where} changes nothing with --engine {usual.engine}; leave it out, or use {instead}"
                    )
        tables = {}
        for table in FIELDS.tables:
            of_table = {one.key.split(".")[1]: one for one in last.values() if one.key.startswith(f"{table}.")}
            tables[table] = replaced(getattr(usual, table), of_table)
        return replace(replaced(usual, {key: one for key, one in last.items() if "." not in key}), **tables)

    def arguments(self) -> dict[str, Any]:
        """What `align` is called with besides the task."""
        of_align = {name: value for name, value in vars(self).items() if name != "data"}
        return of_align | {"previous": self.data.previous, "grown_from": self.data.grown_from}

    def load(self) -> Task:
        """The data set, read as the settings say."""
        if not self.data.source:
            raise SettingError("no data set was named; give one as DATASET, or as data.source in the file of --config")
        data = self.data
        if data.grown_from is not None:
            return load_grown(
                data.grown_from,
                data.source,
                name=data.kg_name,
                seeds=data.seeds,
                held_out=data.held_out,
                lenient=data.lenient,
            )
        names = {name: getattr(data, name) for name in ("seeds", "train_ratio", "lenient")}
        return load(data.source, random_state=self.random_state, **names)

    def in_force(self) -> dict[str, Any]:
        """All values that count with the engine, table by table."""
        usual, unused = Settings.usual(self.engine, self.enhancement.mode), unused_settings(self.engine)
        tables = {table: told(getattr(self, table), getattr(usual, table)) for table in FIELDS.tables}
        return {name: value for name, value in (asdict(self) | tables).items() if name not in unused}


FIELDS = tables_and_keys(Settings)


def from_file(path: str | Path) -> list[Given]:
    """The values of a TOML file or of a run folder's; paths in it are relative to it."""
    path = Path(path)
    path = path / FILE_OF_A_RUN if path.is_dir() else path
    try:
        tree = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        hint = "`multiea config init` writes one to begin with"
        raise InputError(f"cannot be read: {error.strerror or error}", path=path, hint=hint) from None
    except UnicodeDecodeError:
        raise InputError("not UTF-8", path=path, expected="TOML") from None
    except (ValueError, RecursionError) as error:
        raise InputError(f"broken TOML: {error}", path=path) from None
    folder = path.parent.absolute()
    found = []
    for one in values_of(tree, FIELDS, lambda key: f"{path}: {key}"):
        if one.key == "data.source":
            one = replace(one, value=tuple(part if part in EMBEDDED else str(folder / part) for part in one.value))
        elif one.key in [f"data.{name}" for name in PATHS]:
            one = replace(one, value=str(folder / one.value))
        found.append(one)
    return found


def from_words(words: str) -> list[Given]:
    """The value of `--set a.b=c`: c as TOML, or, if it is none, as text."""
    key, equals, text = (part.strip() for part in words.partition("="))
    where = f"--set {' '.join(words.split())}"
    if not key or not equals or not text:
        raise SettingError(f"{where}: expected a key and a value, such as training.epochs=50")
    try:
        tree = tomllib.loads(f"value = {text}")
    except (ValueError, RecursionError):
        tree = {}
    value = tree["value"] if len(tree) == 1 else text  # a line break may bring further keys
    given = list(values_of({key: value}, FIELDS, lambda _: where))
    if TOLD in [one.key for one in given]:
        raise SettingError(f"{where}: {TOLD} is told by a run, not set; leave it out")
    return given


def commented(engine: str = PROPAGATION) -> str:
    """A TOML file of all keys, what they are for and what is usual for an engine; keys it does not use are not set."""
    settings, unused = Settings.usual(engine), unused_settings(engine)
    lines = [
        f"# Settings of `multiea align` with engine {engine}, all as they are without this file:",
        "#   multiea align DATASET --config FILE --out RUN",
        "# Keys behind a # are not set. For another engine make the file anew: multiea config init --engine ENGINE",
    ]
    for name, about in explanations(Settings).items():
        lines += _explained(name, getattr(settings, name), about, is_set=name not in unused)
    for table, kind in FIELDS.tables.items():
        is_set = table not in unused
        note = "" if is_set else f" Not used by engine {engine}."
        lines += ["", "", f"# {kind.__doc__.splitlines()[0]}{note}", f"[{table}]" if is_set else f"#[{table}]"]
        for name, about in explanations(kind).items():
            if f"{table}.{name}" != TOLD:
                lines += _explained(name, getattr(getattr(settings, table), name), about, is_set=is_set)
    return "\n".join(lines) + "\n"


def _explained(name: str, value: Any, about: str, *, is_set: bool) -> list[str]:
    line = f"{name} = {'...' if value is None else in_toml(value)}"
    return ["", f"# {about}", line if is_set and value is not None else f"#{line}"]
