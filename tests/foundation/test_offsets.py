"""Offsets of parts in a joint id space."""

from __future__ import annotations

import numpy as np
import pytest

from multiea.foundation.offsets import offsets


@pytest.mark.parametrize(("sizes", "expected"), [([], [0]), ([3], [0, 3]), ([3, 0, 2], [0, 3, 3, 5])])
def test_offsets_are_the_starts_of_the_parts_and_the_total(sizes: list[int], expected: list[int]) -> None:
    starts = offsets(iter(sizes))
    assert starts.tolist() == expected
    assert starts.dtype == np.int64


def test_joint_ids_lead_back_to_parts() -> None:
    starts = offsets([3, 0, 2])
    joint_ids = np.arange(5)
    assert (np.searchsorted(starts, joint_ids, side="right") - 1).tolist() == [0, 0, 0, 2, 2]
