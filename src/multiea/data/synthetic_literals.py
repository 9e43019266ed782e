"""Literals of synthetic KGs, names and attributes, written as N-Triples."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from multiea.data.synthetic_attributes import AttributesOfKg, HiddenAttributes
from multiea.data.synthetic_names import HiddenNames, NamesOfKg, Property, Spelling, Vocabulary
from multiea.data.synthetic_settings import Synthesis
from multiea.foundation import progress

Ids = NDArray[np.int64]

BLOCK_ENTITIES = 1 << 17


class SyntheticLiterals:
    """What the KGs of a synthetic data set say of their entities in literals.

    Words, names and attributes have random states of their own: leaving one out does not change the others.
    """

    def __init__(self, settings: Synthesis, seed: np.random.SeedSequence) -> None:
        self._settings = settings
        (words, *self._word_rngs), (names, *self._name_rngs), (attributes, *self._attribute_rngs) = (
            [np.random.default_rng(child) for child in kind.spawn(1 + settings.kgs)] for kind in seed.spawn(3)
        )
        hidden = settings.hidden_entities
        self._vocabulary = Vocabulary(hidden, words)
        self._names = HiddenNames(hidden, self._vocabulary, names) if settings.names else None
        self._attributes = HiddenAttributes(hidden, self._vocabulary, attributes) if settings.attributes else None

    def write(self, kg_number: int, hidden_of: Ids, path: Path) -> tuple[int, Ids]:
        """Writes the literals of one KG; hidden_of: the hidden entity behind each of its entities, (E,).

        Returns the number of literals, and the entities that have none.
        """
        kinds = self._of_kg(kg_number)
        name, literals, without = self._settings.kg_names[kg_number], 0, []
        with path.open("wb") as file, progress.stage(f"writing {path.name}", len(hidden_of)) as advance:
            for start in range(0, len(hidden_of), BLOCK_ENTITIES):
                hidden = hidden_of[start : start + BLOCK_ENTITIES]
                has_literal = np.zeros(len(hidden), dtype=bool)
                for stated in (one for kind in kinds for one in kind.of(hidden)):
                    lines = _lines(name, start, stated)
                    lines.write_csv(file, include_header=False, quote_style="never")
                    literals += len(lines)
                    has_literal |= stated.values.is_not_null().to_numpy()
                without.append(start + np.flatnonzero(~has_literal))
                advance(len(hidden))
        return literals, np.concatenate(without)

    def _of_kg(self, number: int) -> list[NamesOfKg | AttributesOfKg]:
        spelling = Spelling(self._vocabulary, number, self._word_rngs[number])
        kinds: list[NamesOfKg | AttributesOfKg] = []
        if self._names is not None:
            kinds.append(NamesOfKg(self._names, spelling, self._settings, self._name_rngs[number]))
        if self._attributes is not None:
            kinds.append(AttributesOfKg(self._attributes, spelling, self._settings, self._attribute_rngs[number]))
        return kinds


def _lines(kg: str, first_entity: int, stated: Property) -> pl.DataFrame:
    """The N-Triples of one property of consecutive entities. The values have no character that needs escaping."""
    entities = pl.Series(np.arange(first_entity, first_entity + len(stated.values)))
    table = pl.DataFrame({"entity": entities, "value": stated.values}).drop_nulls()
    datatype = "" if stated.datatype.endswith("#string") else f"^^<{stated.datatype}>"
    return table.select(pl.format(f'<{kg}:{{}}> <{stated.iri}> "{{}}"{datatype} .', "entity", "value"))
