"""AlignSettings: everything a user can choose about an alignment, as one tree of dataclasses."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

from multiea.foundation.errors import SettingError, check_random_state, check_share, resolve, unknown
from multiea.settings.bootstrapping import Bootstrapping
from multiea.settings.data import Data
from multiea.settings.engines import (
    PROPAGATION,
    TRAINING_DEFAULTS,
    check_engine,
    default_enhancement,
    default_training,
    engine_names,
    unused_settings,
)
from multiea.settings.enhancement import Enhancement
from multiea.settings.fields import names_checked, options_of, recorded_values, setting
from multiea.settings.parsing import GivenValue, errors_at, given_values, schema_of, with_given_values
from multiea.settings.propagation import Propagation
from multiea.settings.training import Training

DEVICES = ("auto", "cpu", "cuda")
AUTO, STRUCTURE = "auto", "structure"
EVIDENCE = (STRUCTURE, "names", "attributes")
RENAMED_KEYS = {"training.look_every": "training.evaluate_every"}  # keys of earlier versions, still read


@names_checked
@dataclass(frozen=True, kw_only=True)
class AlignSettings:
    """All settings of an alignment: what `multiea.align` takes, a config file holds and a run folder records.

    >>> settings = AlignSettings.default(engine="multiea", random_state=1)
    >>> settings.training.epochs
    100
    """

    engine: str = setting(
        PROPAGATION,
        f"What turns KGs into embeddings: propagation, an encoder to train ({', '.join(TRAINING_DEFAULTS)}), "
        "or both, such as propagation+multiea.",
        option="--engine",
    )
    evidence: tuple[str, ...] = setting(
        (AUTO,),
        "What similarity comes from: auto (all there is), or any of structure, names, attributes; the methods of the "
        "paper use structure alone.",
        option="--evidence",
    )
    name_model: str | None = setting(
        None,
        "A folder with a sentence-transformers or model2vec model that turns names into vectors, as further evidence.",
        option="--name-model",
    )
    random_state: int = setting(0, "The seed of all random numbers; the same number gives the same result.",
                                option="--random-state")  # fmt: skip
    device: str = setting("auto", "The device for tensors: auto, cpu or cuda.", option="--device")
    pairwise: bool = setting(False, "Train the encoder on each pair of KGs separately.", option="--pairwise")
    fusion_weight: float = setting(
        0.2, "Weight of the encoder's similarities in propagation+multiea, from 0 to 1.", option="--fusion-weight"
    )
    duplicates: tuple[str, ...] = setting(
        (),
        "KGs that may contain the same entity more than once; auto looks which do, by names and attributes.",
        option="--duplicates",
    )
    data: Data = field(default_factory=Data)
    enhancement: Enhancement
    propagation: Propagation = field(default_factory=Propagation)
    bootstrap: Bootstrapping = field(default_factory=Bootstrapping)
    training: Training

    def __post_init__(self) -> None:
        check_random_state(self.random_state)
        resolve(self.device, dict.fromkeys(DEVICES), what="device")
        check_share("fusion_weight", self.fusion_weight)
        self._check_evidence()
        if AUTO in self.duplicates and len(self.duplicates) > 1:
            raise SettingError("duplicates 'auto' looks in all KGs; remove it, or remove the names of KGs")
        if self.pairwise and self.uses_propagation:
            raise SettingError("pairwise training needs a single encoder as engine; propagation trains nothing")

    @classmethod
    def default(cls, engine: str | None = None, **changes: Any) -> AlignSettings:
        """The defaults of an engine (propagation by default), with some settings changed.

        changes: any field by name. `enhancement` may be a mode and `bootstrap` a pool; None means the default.
        """
        name = PROPAGATION if engine is None else engine
        if not isinstance(name, str):
            raise SettingError(f"engine must be text, got {engine!r}; choose one of: {', '.join(engine_names())}")
        check_engine(name)
        return cls._default(name).changed(**changes)

    @classmethod
    def _default(cls, engine: str, mode: str = Enhancement.mode) -> AlignSettings:
        return cls(engine=engine, enhancement=default_enhancement(engine, mode), training=default_training(engine))

    def changed(self, **changes: Any) -> AlignSettings:
        """The same with some settings changed; the engine stays, since other defaults depend on it.

        With a mode as `enhancement` or a pool as `bootstrap`, the other settings of that table stay as they are.
        """
        given = {name: value for name, value in changes.items() if value is not None}
        names = [part.name for part in fields(self)]
        for name in given:
            if name not in names:
                raise SettingError(unknown(name, names, what="setting"))
        if given.get("engine", self.engine) != self.engine:
            raise SettingError(
                f"these settings are for engine '{self.engine}'; "
                f"make those of another engine with AlignSettings.default('{given['engine']}')"
            )
        if isinstance(mode := given.get("enhancement"), str):
            given["enhancement"] = self._enhancement_with_mode(mode)
        if isinstance(pool := given.get("bootstrap"), str):
            given["bootstrap"] = replace(self.bootstrap, pool=pool)
        checked = {name: self._checked(name, value) for name, value in given.items()}
        for name, instead in unused_settings(self.engine).items():
            if name in checked and checked[name] != getattr(self, name):
                raise SettingError(f"{name} has no effect with engine '{self.engine}'; remove it, or use {instead}")
        return replace(self, **checked)

    def _enhancement_with_mode(self, mode: str) -> Enhancement:
        """Another mode with its defaults, except values that differ from the defaults of the present mode."""
        default = default_enhancement(self.engine, self.enhancement.mode)
        own = {name: value for name, value in vars(self.enhancement).items() if value != getattr(default, name)}
        return replace(default_enhancement(self.engine, mode), **own)

    @staticmethod
    def _checked(name: str, value: Any) -> Any:
        """A value of the right type; numpy numbers and any sequence of names are converted."""
        if name in SCHEMA.tables:
            kind = SCHEMA.tables[name]
            if not isinstance(value, kind):
                raise SettingError(f"{name} must be a multiea.{kind.__name__}, got {value!r}")
            return value
        if name in ("duplicates", "evidence"):
            several = list(value) if isinstance(value, Iterable) and not isinstance(value, str) else [value]
            value = [one for at, one in enumerate(several) if one not in several[:at]]
        value = value.item() if hasattr(value, "item") else value
        return next(given_values({name: value}, SCHEMA, lambda key: key)).value

    @classmethod
    def from_given(cls, given: Iterable[GivenValue], *, engine_may_be_unknown: bool = False) -> AlignSettings:
        """The defaults of the engine with the given values; if a key is given twice, the later value counts.

        engine_may_be_unknown: for runs whose encoder a user had registered.
        """
        last = {one.key: one for one in given}
        engine, mode = last.get("engine"), last.get("enhancement.mode")
        name = engine.value if engine else cls.engine
        if not engine_may_be_unknown:
            with errors_at(engine):
                check_engine(name)
        with errors_at(mode):
            default = cls._default(name, mode.value if mode else Enhancement.mode)
        for table, instead in unused_settings(name).items():
            for one in last.values():
                if one.key.split(".")[0] == table:
                    raise SettingError(f"{one.place} has no effect with --engine {name}; remove it, or use {instead}")
        tables = {}
        for table in SCHEMA.tables:
            of_table = {one.key.split(".")[1]: one for one in last.values() if one.key.startswith(f"{table}.")}
            tables[table] = with_given_values(getattr(default, table), of_table)
        settings = with_given_values(default, {key: one for key, one in last.items() if "." not in key})
        duplicates, evidence = (tuple(dict.fromkeys(some)) for some in (settings.duplicates, settings.evidence))
        return replace(settings, duplicates=duplicates, evidence=evidence, **tables)

    def _check_evidence(self) -> None:
        single = tuple(part.strip() for one in self.evidence for part in one.split(","))  # --evidence names,structure
        object.__setattr__(self, "evidence", tuple(dict.fromkeys(single)))
        for one in self.evidence:
            resolve(one, dict.fromkeys((AUTO, *EVIDENCE)), what="evidence")
        if not self.evidence:
            raise SettingError(f"evidence must not be empty; choose from: {', '.join((AUTO, *EVIDENCE))}")
        if AUTO in self.evidence and len(self.evidence) > 1:
            raise SettingError(f"evidence 'auto' is all there is; remove it, or remove {self.evidence[1]!r}")
        if self.evidence == (STRUCTURE,) and self.name_model is not None:
            raise SettingError(
                "a name model compares names, and evidence 'structure' leaves them out; remove the name model, or use "
                "evidence auto or structure,names"
            )
        asked = [one for one in self.evidence if one not in (AUTO, STRUCTURE)] or [self.name_model][
            : bool(self.name_model)
        ]
        if asked and not self._can_use_evidence:
            raise SettingError(
                f"evidence '{asked[0]}' needs an engine with propagation, and an enhancement that keeps the best "
                f"candidates (none or sharpened, enhancement.candidates set); '{self.engine}' compares structure alone"
            )

    @property
    def _can_use_evidence(self) -> bool:
        """Whether other evidence than structure can be used: the methods of the paper compare structure alone."""
        return self.uses_propagation and self.enhancement.candidates is not None

    @property
    def evidence_kinds(self) -> tuple[str, ...]:
        """The kinds of evidence to look for."""
        if not self._can_use_evidence:
            return (STRUCTURE,)
        return EVIDENCE if AUTO in self.evidence else tuple(one for one in EVIDENCE if one in self.evidence)

    @property
    def uses_propagation(self) -> bool:
        """Whether propagation is the engine, or a part of it."""
        return PROPAGATION in self.engine.split("+")

    @property
    def encoder(self) -> str | None:
        """The encoder to train, if any."""
        return next((name for name in self.engine.split("+") if name != PROPAGATION), None)

    def recorded(self) -> dict[str, Any]:
        """All values that have an effect with the engine, as a run folder records them."""
        default = self._default(self.engine, self.enhancement.mode)
        tables = {table: recorded_values(getattr(self, table), getattr(default, table)) for table in SCHEMA.tables}
        unused = unused_settings(self.engine)
        return {name: value for name, value in (asdict(self) | tables).items() if name not in unused}

    def flat(self) -> dict[str, Any]:
        """The recorded values by dotted key, such as training.epochs; those without a value are left out."""
        tree = self.recorded()
        values = {key: value for key, value in tree.items() if not isinstance(value, dict)}
        values |= {f"{table}.{key}": value for table in SCHEMA.tables for key, value in tree.get(table, {}).items()}
        return {key: value for key, value in values.items() if value is not None}


SCHEMA = schema_of(AlignSettings, RENAMED_KEYS)


def option_keys() -> dict[str, str]:
    """The dotted key of each command line option of a setting: {"--bootstrap": "bootstrap.pool", ...}."""
    keys = {option: name for name, option in options_of(AlignSettings).items()}
    for table, kind in SCHEMA.tables.items():
        keys |= {option: f"{table}.{name}" for name, option in options_of(kind).items()}
    return keys
