"""Errors and warnings of align: bad settings, tasks that cannot be learned from, too little memory."""

from __future__ import annotations

import logging
from dataclasses import replace

import pytest
import torch

import multiea
from multiea import Groups, InputError, MultiEAError, SettingError, Task, Training
from support.quick import FEW_EPOCHS


def test_errors_for_bad_settings_list_the_choices(small: Task) -> None:
    with pytest.raises(
        SettingError,
        match=r"unknown engine 'multeia'; choose one of: propagation, multiea, mtranse, .*Did you mean 'multiea'",
    ):
        multiea.align(small, engine="multeia")
    with pytest.raises(SettingError, match="unknown strategy 'men'; choose one of: each, anchor, mean"):
        Training(strategy="men")
    with pytest.raises(SettingError, match="an anchor KG has no effect with strategy 'mean'"):
        Training(anchor="en")
    with pytest.raises(SettingError, match="unknown enhancement 'x'; choose one of: none, product, profile, sharpened"):
        multiea.align(small, enhancement="x")
    with pytest.raises(SettingError, match="unknown device 'gpu'; choose one of: auto, cpu, cuda"):
        multiea.align(small, device="gpu")
    with pytest.raises(InputError, match="unknown anchor KG 'kg9'; choose one of: kg1, kg2, kg3"):
        multiea.align(small, engine="multiea", training=Training(strategy="anchor", anchor="kg9"))
    for name in ("dimensions", "layers", "negatives", "epochs", "patience"):
        with pytest.raises(SettingError, match=f"{name} must be at least 1, got 0"):
            Training(**{name: 0})  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="learning_rate must be above 0"):
        Training(learning_rate=0)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here")
def test_an_unavailable_cuda_device_is_an_error(small: Task) -> None:
    with pytest.raises(SettingError, match="torch finds no CUDA device; use --device cpu or auto"):
        multiea.align(small, device="cuda")


def test_a_task_without_seeds_is_an_error_that_says_what_to_do(small: Task) -> None:
    with pytest.raises(InputError, match=r"has no seeds.*seeds="):
        multiea.align(Task(small.kgs, held_out=small.held_out))


def test_pairs_of_kgs_that_no_seed_links_are_reported(small: Task, caplog: pytest.LogCaptureFixture) -> None:
    members = small.seeds.members[(small.seeds.members[:, :2] >= 0).all(1)].copy()
    members[:, 2] = -1
    with caplog.at_level(logging.WARNING, "multiea"):
        multiea.align(
            Task(small.kgs, Groups(small.kg_names, members)), engine="multiea", training=replace(FEW_EPOCHS, epochs=1)
        )
    assert "no seed links kg1-kg3, kg2-kg3" in caplog.text


def test_a_kg_without_seeds_is_reported(small: Task, caplog: pytest.LogCaptureFixture) -> None:
    members = small.seeds.members[(small.seeds.members[:, :2] >= 0).all(1)].copy()
    members[:, 2] = -1
    multiea.align(
        Task(small.kgs, Groups(small.kg_names, members)), engine="multiea", training=replace(FEW_EPOCHS, epochs=1)
    )
    assert "no seed has a member in kg3" in caplog.text


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

    monkeypatch.setattr("multiea.pipeline.single_pass.train_encoder", fail)
    with pytest.raises(MultiEAError, match=r"out of memory; lower training\.dimensions"):
        multiea.align(small, engine="multiea")


def test_enhancement_product_gives_a_warning(small: Task, caplog: pytest.LogCaptureFixture) -> None:
    multiea.align(small, engine="multiea", enhancement="product", training=FEW_EPOCHS)
    assert "hubs ruin its groups" in caplog.text
