"""align, from a task to a run folder and back: honest, repeatable, and clear where it cannot."""

import json
import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from test_scores import shuffled
from typer.testing import CliRunner

import multiea
from multiea import Enhancement, Groups, InputError, KnowledgeGraph, MultiEAError, SettingError, Task, Training
from multiea.cli.main import app
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.engines import trained, training
from multiea.graph.joint_graph import canonical

QUICK = Training(epochs=10, look_every=5, dimensions=32)


@pytest.fixture(scope="module")
def aligned(small: Task) -> multiea.Alignment:
    return multiea.align(small, engine="multiea", training=QUICK)


def test_training_learns_something(small: Task, aligned: multiea.Alignment) -> None:
    scores = aligned.evaluate()
    untrained = multiea.align(small, engine="multiea", training=replace(QUICK, learning_rate=1e-9)).evaluate()
    assert scores["m_hits"]["test"]["10"] > 3 * untrained["m_hits"]["test"]["10"]
    assert aligned.history["losses"][-1] < aligned.history["losses"][0] / 2
    assert 0 < scores["pairs"]["f1"] <= 1


def test_the_same_random_state_gives_the_same_result(small: Task, aligned: multiea.Alignment) -> None:
    again = multiea.align(small, engine="multiea", training=QUICK)
    assert torch.equal(again.embeddings, aligned.embeddings)
    assert again.groups.equals(aligned.groups)
    other = multiea.align(small, engine="multiea", training=QUICK, random_state=1)
    assert not torch.equal(other.embeddings, aligned.embeddings)


@pytest.mark.parametrize("mode", ["none", "product", "profile", "sharpened"])
def test_the_order_of_entities_kgs_and_groups_changes_no_score(
    small: Task, aligned: multiea.Alignment, mode: str
) -> None:
    def scores(alignment: multiea.Alignment) -> dict[str, float]:
        result = alignment.with_enhancement(Enhancement(mode=mode)).evaluate()
        flat = {f"{pool} {k}": v for pool, by_k in result["m_hits"].items() for k, v in by_k.items()}
        for pool, by_pair in result["mrr"].items():
            flat |= {f"{pool} {' '.join(sorted(pair.split('-')))}": v for pair, v in by_pair.items()}
        return (
            flat
            | {f"pairs {k}": v for k, v in result["pairs"].items()}
            | {f"groups {k}": v for k, v in result["groups"].items()}
        )

    other, _ = shuffled(small, aligned.embeddings, seed=1)
    assert other.kg_names != small.kg_names
    moved = multiea.align(other, engine="multiea", training=QUICK)
    assert scores(moved) == pytest.approx(scores(aligned), abs=1e-6)


def test_held_out_groups_do_not_reach_training(small: Task, aligned: multiea.Alignment, other_answers: Groups) -> None:
    """With other answers held out, or none, exactly the same is learned."""
    for held_out in (other_answers, Groups.empty(small.kg_names)):
        other = multiea.align(Task(small.kgs, small.seeds, held_out), engine="multiea", training=QUICK)
        assert torch.equal(other.embeddings, aligned.embeddings)
        assert other.history["best_epoch"] == aligned.history["best_epoch"]


def test_groups_found_have_one_entity_a_kg_and_no_seed(small: Task, aligned: multiea.Alignment) -> None:
    table = aligned.groups
    assert table.columns == ["group_id", "kg", "entity", "confidence", "status"]
    assert table.select("group_id", "kg").is_duplicated().sum() == 0
    assert table.select("kg", "entity").is_duplicated().sum() == 0
    assert table["confidence"].is_between(0, 1).all()
    seeds = table.filter(pl.col("status") == "seed")
    assert seeds["group_id"].n_unique() == len(small.seeds)


def test_group_ids_depend_on_members_alone(small: Task, aligned: multiea.Alignment) -> None:
    moved, embeddings = shuffled(small, aligned.embeddings, seed=1)
    other = replace(
        aligned,
        task=moved,
        embeddings=embeddings,
        found=replace(aligned.found, groups=Groups.empty(moved.kg_names), confidence=np.empty((0, 3))),
    )
    ids = set(aligned.groups.filter(pl.col("status") == "seed")["group_id"])
    assert set(other.groups["group_id"]) == ids


def test_canonical_tasks_are_the_same_whatever_the_order(small: Task) -> None:
    embeddings = torch.arange(sum(len(kg.entities) for kg in small.kgs)).float()[:, None]
    one, places = canonical(small)
    moved, moved_embeddings = shuffled(small, embeddings, seed=2)
    other, moved_places = canonical(moved)
    for kg, same in zip(one.kgs, other.kgs, strict=True):
        assert kg.entities.to_list() == same.entities.to_list()
        assert sorted(map(tuple, kg.triples.tolist())) == sorted(map(tuple, same.triples.tolist()))
    assert np.array_equal(one.seeds.members, other.seeds.members)
    back = torch.empty_like(embeddings)
    back[places] = embeddings
    moved_back = torch.empty_like(embeddings)
    moved_back[moved_places] = moved_embeddings
    assert torch.equal(back, moved_back)


def test_a_run_folder_brings_the_alignment_back(aligned: multiea.Alignment, tmp_path: Path) -> None:
    aligned.save(tmp_path / "run")
    back = multiea.open(tmp_path / "run")
    assert back.groups.sort("group_id", "kg").equals(aligned.groups.sort("group_id", "kg"))
    assert torch.equal(back.embeddings, aligned.embeddings.cpu())
    assert back.evaluate()["m_hits"] == aligned.evaluate()["m_hits"]
    assert back.evaluate()["pairs"] == aligned.evaluate()["pairs"]
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text(encoding="utf-8"))
    assert set(metrics["m_hits"]) == {"test", "all"}
    manifest = json.loads((tmp_path / "run" / "manifest.json").read_text(encoding="utf-8"))
    assert set(manifest["input"]) == set(aligned.task.kg_names)
    assert manifest["history"]["best_epoch"] == aligned.history["best_epoch"]
    with pytest.raises(MultiEAError, match="not empty"):
        aligned.save(tmp_path / "run")


def test_one_runs_groups_are_another_runs_seeds(small: Task, aligned: multiea.Alignment, tmp_path: Path) -> None:
    aligned.save(tmp_path / "run")
    from multiea.data.readers import read_groups

    seeds = read_groups(tmp_path / "run" / "groups.tsv", small.kgs)
    assert {tuple(row) for row in seeds.members.tolist()} == {
        tuple(row) for row in aligned.found.groups.members.tolist()
    }


def test_a_folder_that_is_no_run_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no config\.toml.*expected a run folder"):
        multiea.open(tmp_path)


def test_without_held_out_groups_it_predicts_and_says_that_nothing_could_be_scored(tmp_path: Path, small: Task) -> None:
    from multiea.data.write import write_groups, write_kgs

    data = tmp_path / "data"
    data.mkdir()
    write_kgs(small.kgs, data)
    write_groups(small.seeds, small.kgs, data / "seeds.tsv")
    arguments = ["align", str(data), "--out", str(tmp_path / "run")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "nothing could be scored" in result.output
    assert len(multiea.open(tmp_path / "run").found.groups) > 10
    again = CliRunner().invoke(app, ["evaluate", str(tmp_path / "run")])
    assert "nothing could be scored" in again.output


def test_the_command_writes_a_run_and_evaluate_scores_it_the_same(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    write_synthetic(Synthesis(kgs=2, entities=300, relations=20), tmp_path / "data")
    out = tmp_path / "run"
    arguments = ["align", str(tmp_path / "data"), "--out", str(out), "--json", "--train-ratio", "0.5"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    metrics = json.loads(result.stdout)
    assert set(metrics["seconds"]) == {"read", "engine", "similarity", "grouping", "total"}
    scored = CliRunner().invoke(app, ["evaluate", str(out), "--json"])
    assert json.loads(scored.stdout)["m_hits"] == metrics["m_hits"]
    assert {path.name for path in out.iterdir()} == {
        "config.toml", "seeds.tsv", "held_out.tsv", "groups.tsv", "groups.parquet", "pairs.parquet", "entities.parquet",
        "embeddings.safetensors", "metrics.json", "manifest.json",
    }  # fmt: skip


def test_early_stopping_takes_the_best_look_and_stops_when_patience_ends(small: Task) -> None:
    scores = iter([(0.1,), (0.5,), (0.4,), (0.3,), (0.9,)])
    encoder, groups, offsets, generator = parts_of(small)
    settings = replace(QUICK, epochs=50, look_every=2, patience=2)
    seen = []

    def validate(embeddings: torch.Tensor) -> tuple[float, ...]:
        seen.append(embeddings)
        return next(scores)

    best, history = training.fit(
        encoder, groups, offsets, settings, anchor=0, epochs=50, generator=generator, validate=validate
    )
    assert torch.equal(best, seen[1])
    assert history.best_epoch == 4
    assert len(history.losses) == 8


def test_ctrl_c_keeps_the_best_so_far(small: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    encoder, groups, offsets, generator = parts_of(small)
    seen: list[torch.Tensor] = []

    def validate(embeddings: torch.Tensor) -> tuple[float, ...]:
        if len(seen) == 2:
            raise KeyboardInterrupt
        seen.append(embeddings)
        return (float(-len(seen)),)

    best, history = training.fit(
        encoder,
        groups,
        offsets,
        replace(QUICK, look_every=1),
        anchor=0,
        epochs=30,
        generator=generator,
        validate=validate,
    )
    assert history.interrupted
    assert torch.equal(best, seen[0])


def parts_of(task: Task) -> tuple[torch.nn.Module, torch.Tensor, tuple[int, ...], torch.Generator]:
    from multiea.graph.joint_graph import joint_graph

    graph, generator = joint_graph(task), torch.Generator().manual_seed(0)
    return trained.MultiEAEncoder(graph, 16, 2, generator), graph.joint_ids(task.seeds), graph.entity_offsets, generator


@pytest.mark.parametrize("strategy", ["each", "anchor", "mean"])
def test_partial_seeds_two_kgs_and_isolated_entities_are_fine(strategy: str) -> None:
    kgs = [
        KnowledgeGraph.from_triples(
            f"kg{k}", [(f"{i}", "r", f"{(i * 7 + 1) % 40}") for i in range(40)], entities=["alone"]
        )
        for k in range(3)
    ]
    rows = [{f"kg{k}": f"{i}" for k in range(3) if (i + k) % 3} for i in range(20)]
    alignment = multiea.align(
        Task(kgs, Groups.from_names(kgs, rows)), engine="multiea", training=replace(QUICK, strategy=strategy)
    )
    assert torch.isfinite(alignment.embeddings).all()
    pair = multiea.align(
        Task(kgs[:2], Groups.from_names(kgs[:2], [{"kg0": "1", "kg1": "1"}])), engine="multiea", training=QUICK
    )
    assert torch.isfinite(pair.embeddings).all()


def test_bad_settings_list_what_there_is(small: Task) -> None:
    with pytest.raises(
        SettingError,
        match=r"unknown engine 'multeia'; choose one of: propagation, multiea, mtranse, .*Did you mean 'multiea'",
    ):
        multiea.align(small, engine="multeia")
    with pytest.raises(SettingError, match="unknown strategy 'men'; choose one of: each, anchor, mean"):
        Training(strategy="men")
    with pytest.raises(SettingError, match="an anchor KG changes nothing with strategy 'mean'"):
        Training(anchor="en")
    with pytest.raises(SettingError, match="unknown enhancement 'x'; choose one of: none, product, profile, sharpened"):
        multiea.align(small, enhancement="x")
    with pytest.raises(SettingError, match="unknown device 'gpu'; choose one of: auto, cpu, cuda"):
        multiea.align(small, device="gpu")
    with pytest.raises(InputError, match="unknown anchor KG 'kg9'; choose one of: kg1, kg2, kg3"):
        multiea.align(small, engine="multiea", training=Training(strategy="anchor", anchor="kg9"))
    for name in ("dimensions", "layers", "negatives", "epochs", "patience"):
        with pytest.raises(SettingError, match=f"{name} must be at least 1, got 0"):
            Training(**{name: 0})
    with pytest.raises(SettingError, match="learning_rate must be above 0"):
        Training(learning_rate=0)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")
def test_cuda_asked_for_where_there_is_none_is_named(small: Task) -> None:
    with pytest.raises(SettingError, match="no CUDA device here; use --device cpu or auto"):
        multiea.align(small, device="cuda")


def test_no_seeds_says_what_to_do(small: Task, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"has no seeds.*seeds\.tsv"):
        multiea.align(Task(small.kgs, held_out=small.held_out))


def test_pairs_that_no_seed_joins_are_named(small: Task, caplog: pytest.LogCaptureFixture) -> None:
    members = small.seeds.members[(small.seeds.members[:, :2] >= 0).all(1)].copy()
    members[:, 2] = -1
    with caplog.at_level(logging.WARNING, "multiea"):
        multiea.align(
            Task(small.kgs, Groups(small.kg_names, members)), engine="multiea", training=replace(QUICK, epochs=1)
        )
    assert "no seed joins kg1-kg3, kg2-kg3" in caplog.text


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        torch.OutOfMemoryError("CUDA out of memory"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory"),
    ],
)
def test_too_little_memory_says_which_setting_to_lower(
    small: Task, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("multiea.pipeline.align.learn", fail)
    with pytest.raises(MultiEAError, match=r"out of memory; lower training\.dimensions"):
        multiea.align(small, engine="multiea")


def test_the_papers_product_comes_with_a_warning(small: Task, caplog: pytest.LogCaptureFixture) -> None:
    multiea.align(small, engine="multiea", enhancement="product", training=QUICK)
    assert "hubs ruin its groups" in caplog.text


def test_a_failed_run_leaves_no_folder(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    write_synthetic(Synthesis(kgs=2, entities=100), tmp_path / "data")
    arguments = ["align", str(tmp_path / "data"), "--out", str(tmp_path / "run"), "--engine", "multiea"]
    result = CliRunner().invoke(app, [*arguments, "--strategy", "meen"])
    assert result.exit_code == 2
    assert "choose one of: each, anchor, mean" in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


@pytest.mark.parametrize(
    ("engine", "option", "value"),
    [
        ("propagation", "--epochs", "3"),
        ("propagation", "--strategy", "mean"),
        ("propagation", "--fusion-weight", "0.5"),
        ("multiea", "--bootstrap", "none"),
        ("multiea", "--fusion-weight", "0.5"),
    ],
)
def test_an_option_the_engine_does_not_use_is_refused(engine: str, option: str, value: str, tmp_path: Path) -> None:
    out = tmp_path / "run"
    result = CliRunner().invoke(app, ["align", "world", "--out", str(out), "--engine", engine, option, value])
    assert result.exit_code == 2
    assert f"{option} changes nothing with --engine {engine}" in result.output
    assert not out.exists()


@pytest.mark.parametrize(
    ("engine", "mode"),
    [("multiea", mode) for mode in ("none", "product", "profile", "sharpened")]
    + [("propagation", mode) for mode in ("none", "profile", "sharpened")],
)
@pytest.mark.filterwarnings("error")
def test_a_kg_all_of_whose_entities_are_seeds_is_fine(engine: str, mode: str) -> None:
    sizes = {"kg0": 30, "kg1": 30, "kg2": 12}
    kgs = [
        KnowledgeGraph.from_triples(name, [(f"{i}", "r", f"{(i * 7 + 1) % size}") for i in range(size)])
        for name, size in sizes.items()
    ]
    seeds = Groups.from_names(kgs, [dict.fromkeys(sizes, f"{i}") for i in range(12)])
    held_out = Groups.from_names(kgs, [{"kg0": f"{i}", "kg1": f"{i}"} for i in range(12, 30)])
    settings = {"engine": engine, "training": QUICK, "enhancement": mode, "random_state": 2**63 - 1}
    scores = multiea.align(Task(kgs, seeds, held_out), duplicates=["kg0", "kg2"], **settings).evaluate()
    assert scores["m_hits"]["all"]["1"] is None  # no complete group is held out
    assert scores["hits"]["all"]["kg0-kg2"]["1"] is None
    assert 0 <= scores["hits"]["all"]["kg0-kg1"]["10"] <= 1
    json.dumps(scores, allow_nan=False)


@pytest.mark.parametrize(
    "name",
    ["config.toml", "entities.parquet", "groups.parquet", "pairs.parquet", "embeddings.safetensors", "manifest.json",
     "seeds.tsv"],
)  # fmt: skip
def test_a_damaged_run_folder_is_named(aligned: multiea.Alignment, tmp_path: Path, name: str) -> None:
    aligned.save(tmp_path / "run")
    assert len(multiea.open(str(tmp_path / "run")).found.groups)
    (tmp_path / "run" / name).write_bytes(b"\x00 not what it was")
    result = CliRunner().invoke(app, ["evaluate", str(tmp_path / "run")])
    assert result.exit_code == 2
    assert result.stderr.startswith(f"error: {tmp_path / 'run' / name}")


def test_diverging_training_is_named(small: Task) -> None:
    with pytest.raises(MultiEAError, match=r"training diverged in epoch \d+.*lower the learning rate"):
        multiea.align(small, engine="multiea", training=replace(QUICK, learning_rate=1e30))


def test_a_tasks_own_validation_groups_are_used_and_never_trained_on(small: Task) -> None:
    carved = Task(small.kgs, small.seeds).split(0.8, 0.2, random_state=3)
    seen = []

    def validate(_: torch.Tensor, task: Task) -> tuple[float, ...]:
        seen.append((len(task.seeds), len(task.held_out)))
        return (0.0,)

    task = Task(small.kgs, carved.seeds, validation=carved.validation)
    trained.learn(task, "multiea", QUICK, validate=validate, device=torch.device("cpu"), random_state=0)
    assert set(seen) == {(len(carved.seeds), len(carved.validation))}


def test_after_validation_all_seeds_are_trained_on(small: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    trained_on = []
    fit = training.fit

    def watched(encoder: torch.nn.Module, groups: torch.Tensor, *args: object, **kwargs: object) -> object:
        trained_on.append((len(groups), kwargs["epochs"]))
        return fit(encoder, groups, *args, **kwargs)

    monkeypatch.setattr(trained, "fit", watched)
    alignment = multiea.align(small, engine="multiea", training=QUICK)
    assert trained_on[0] == (len(small.seeds) - len(small.seeds) // 5, 10)
    assert trained_on[1] == (len(small.seeds), alignment.history["best_epoch"])


def test_evaluating_against_other_kgs_or_seeds_is_refused(small: Task, aligned: multiea.Alignment) -> None:
    turned = Groups(small.kg_names[::-1], small.held_out.members[:, ::-1])
    with pytest.raises(InputError, match="the task's KGs in its order"):
        aligned.evaluate(turned)
    with pytest.raises(InputError, match="in two groups"):
        aligned.evaluate(small.known)


def test_ctrl_c_while_training_again_keeps_what_validation_chose(
    small: Task, aligned: multiea.Alignment, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    calls = []
    draw = training.draw_negatives

    def interrupted(*args: object) -> torch.Tensor:
        calls.append(1)
        if len(calls) == 12:  # ten epochs of the first training, then the second of the next
            raise KeyboardInterrupt
        return draw(*args)

    monkeypatch.setattr(training, "draw_negatives", interrupted)
    alignment = multiea.align(small, engine="multiea", training=QUICK)
    assert alignment.history["interrupted"]
    assert "interrupted" in caplog.text
    chosen = alignment.evaluate()["m_hits"]["test"]["10"]
    assert chosen > 0.6 * aligned.evaluate()["m_hits"]["test"]["10"]


def test_a_run_never_replaces_its_own_input(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    write_synthetic(Synthesis(kgs=2, entities=100), tmp_path / "data")
    arguments = ["align", str(tmp_path / "data"), "--out", str(tmp_path / "data"), "--epochs", "1", "--force"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 2
    assert "is not a run" in result.stderr
    assert (tmp_path / "data" / "kg1.tsv").is_file()


def test_a_kg_without_seeds_is_named(small: Task, caplog: pytest.LogCaptureFixture) -> None:
    members = small.seeds.members[(small.seeds.members[:, :2] >= 0).all(1)].copy()
    members[:, 2] = -1
    multiea.align(Task(small.kgs, Groups(small.kg_names, members)), engine="multiea", training=replace(QUICK, epochs=1))
    assert "no seed reaches kg3" in caplog.text


def test_an_opened_run_has_nothing_to_learn_from(aligned: multiea.Alignment, tmp_path: Path) -> None:
    aligned.save(tmp_path / "run")
    with pytest.raises(InputError, match="has no triples"):
        multiea.align(multiea.open(tmp_path / "run").task)


@pytest.mark.parametrize(("every", "draws"), [(1, 6), (3, 2), (10, 1)])
def test_negatives_are_drawn_anew_as_often_as_asked(
    small: Task, monkeypatch: pytest.MonkeyPatch, every: int, draws: int
) -> None:
    encoder, groups, offsets, generator = parts_of(small)
    drawn = []
    draw = training.draw_negatives
    monkeypatch.setattr(training, "draw_negatives", lambda *args: drawn.append(1) or draw(*args))
    settings = replace(QUICK, refresh_every=every)
    training.fit(encoder, groups, offsets, settings, anchor=0, epochs=6, generator=generator)
    assert len(drawn) == draws
