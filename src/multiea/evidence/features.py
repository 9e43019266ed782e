"""Features: what is compared of the entities of a KG for one kind of evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp


@dataclass(frozen=True)
class Features:
    """Rows of unit length, (rows, columns), and the entity that each row describes; an entity may have several rows."""

    rows: sp.csr_array | np.ndarray
    entity: np.ndarray
    entities: int

    @property
    def has_any(self) -> np.ndarray:
        """Which entities have a row that is not zero, (entities,)."""
        filled = np.diff(self.rows.indptr) > 0 if isinstance(self.rows, sp.csr_array) else self.rows.any(axis=1)
        result = np.zeros(self.entities, dtype=bool)
        result[self.entity[filled]] = True
        return result
