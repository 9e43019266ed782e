"""The temperature of Sinkhorn depends on the number of entities, where candidates are limited."""

from __future__ import annotations

import pytest

from multiea import Enhancement
from multiea.settings.engines import default_enhancement
from multiea.settings.propagation import PRINCIPAL_FROM


def test_many_entities_have_a_higher_temperature() -> None:
    default = default_enhancement("propagation")
    assert default.for_entities(PRINCIPAL_FROM) == default
    assert default.for_entities(PRINCIPAL_FROM + 1).temperature == pytest.approx(1.5 * default.temperature)


def test_where_all_pairs_are_kept_it_stays() -> None:
    assert Enhancement().for_entities(10**7) == Enhancement()
