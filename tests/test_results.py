"""Pages of results are made from what is stored, and say what the stored numbers say."""

import importlib.util
import json
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def test_the_page_of_strategies_and_modes_is_what_the_stored_results_give() -> None:
    spec = importlib.util.spec_from_file_location("strategies", ROOT / "experiments" / "strategies_and_modes.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    rows = json.loads(module.RESULTS.read_text(encoding="utf-8"))
    assert module.PAGE.read_text(encoding="utf-8") == module.page(rows)
    assert {(row["strategy"], row["mode"], row["random_state"]) for row in rows} == {
        (strategy, mode, state) for strategy in module.STRATEGIES for mode in module.MODES for state in (0, 1, 2)
    }
