"""Axes of charts."""

from __future__ import annotations

from multiea.report.charts import axis_range, short_number, ticks


def test_axes_have_round_values() -> None:
    assert ticks(0, 1) == [0, 0.2, 0.4, 0.6, 0.8, 1]
    assert ticks(1, 2, whole=True) == [1, 2]
    assert ticks(0, 0) == [0]
    assert axis_range([3, 1134]) == (0, 1250)
    assert axis_range([-1, 0.5]) == (-1, 0.5)
    assert axis_range([7], whole=True) == (0, 8)
    assert [short_number(value) for value in (0.25, 3, 1250, 12_500, 2_500_000)] == [
        "0.25",
        "3",
        "1,250",
        "12.5k",
        "2.5M",
    ]
    assert [short_number(value) for value in (0.00025, -4e-12, 0.001, 0)] == ["2.5e-4", "-4e-12", "0.001", "0"]
