from __future__ import annotations

import numpy as np
import pytest

from multiea.foundation.distinct import distinct


@pytest.mark.parametrize("values", [[], [3], [2, 2, 2], [5, -1, 5, 0, -1], [[4, 1], [1, 9]]])
def test_distinct_values_are_those_of_numpy(values: list[int]) -> None:
    found = distinct(np.array(values, dtype=np.int32))
    assert found.dtype == np.int32
    assert found.tolist() == np.unique(np.array(values, dtype=np.int32)).tolist()
