"""Single sections of the page: map, learning curves, groups with their shared neighbours."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

import multiea
from multiea import Groups, Task
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.engines.embeddings import Embeddings
from multiea.grouping.calibration import Calibration
from multiea.grouping.found_groups import FoundGroups
from multiea.report import embedding_map
from multiea.report.groups_by_confidence import groups_by_confidence
from multiea.report.shared_neighbours import shared_neighbours
from multiea.report.subject import Subject
from multiea.runs.run import Run
from support.handmade import chain_alignment
from support.html_pages import checked_text
from support.tasks import two_tables


def test_without_opentsne_the_page_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(embedding_map, "has_tsne", lambda: False)
    chain_alignment(3, 20).report(tmp_path / "page.html")
    assert "pip install &#x27;multiea[report]&#x27;" in checked_text(tmp_path / "page.html")


def test_embeddings_with_the_same_direction_are_not_mapped(tmp_path: Path) -> None:
    alignment = chain_alignment(2, 20)
    replace(alignment, canonical_embeddings=Embeddings(torch.ones_like(alignment.embeddings))).report(
        tmp_path / "page.html"
    )
    assert "nothing to map" in checked_text(tmp_path / "page.html")


def test_losses_and_validation_scores_are_drawn(tmp_path: Path) -> None:
    losses = [5.0 / epoch for epoch in range(1, 1001)] + [float("nan")]
    history = {
        "losses": losses,
        "validation": {"5": [0.1, 0.2], "10": [0.3, 0.4]},
        "best_epoch": 10,
        "parameters": 1234,
    }
    replace(chain_alignment(2, 20), history=history).report(tmp_path / "page.html")
    text = checked_text(tmp_path / "page.html")
    for words in ("Loss by epoch", "Validation by epoch", "1,001 epochs; the best was epoch 10", "M-Hits@1"):
        assert words in text
    assert "nan" not in re.findall(r'points="([^"]*)"', text)[0]


def test_rounds_without_validation_seeds_have_no_score(tmp_path: Path) -> None:
    write_synthetic(Synthesis(kgs=3, entities=100, relations=5), tmp_path)
    task = multiea.load(tmp_path)
    few = Task(task.kgs, task.seeds.take(np.arange(6)))
    alignment = multiea.align(few)
    assert {one["validation_f1"] for one in alignment.history["rounds"]} == {None}
    alignment.report(tmp_path / "page.html")
    page = checked_text(tmp_path / "page.html")
    assert "too few seeds for validation" in page
    assert "F1 of pairs on validation seeds" not in page


def test_the_summary_says_which_evidence_was_used_and_that_confidences_are_estimated_without_seeds(
    tmp_path: Path,
) -> None:
    alignment = multiea.align(two_tables(12))
    alignment.report(tmp_path / "page.html")
    text = checked_text(tmp_path / "page.html")
    assert "Evidence: names, attributes." in text
    assert "Confidences are estimated without seeds: no known group" in text
    assert "Warning:" not in text


def test_the_summary_warns_of_a_low_score_on_validation_seeds(tmp_path: Path) -> None:
    alignment = chain_alignment(2, 20, seeds=5)
    calibration = Calibration(threshold=0.3, examples=12, validation_f1=0.25, validation_groups=10)
    replace(alignment, calibration=calibration).report(tmp_path / "page.html")
    text = checked_text(tmp_path / "page.html")
    assert "F1 of pairs on the validation seeds is 25.0%, 95% interval 8.1% to 55.8%, judged by 10 groups." in text
    assert "Warning: pair F1 on validation seeds is low, 0.25" in text
    assert "Warning: only 12 pairs could be judged" in text


def test_shared_neighbours_are_members_of_one_group() -> None:
    alignment = chain_alignment(3, 6, seeds=2)
    subject = Subject(Run(alignment))
    shared = shared_neighbours(alignment.task.kgs, subject.all_groups, np.array([4]))
    # Entity 4 is between 3 and 5; the found groups of rows 2 and 5 have no member in the last KG.
    edges = {(kg, forwards, neighbour) for kg, forwards, neighbour in
            shared.select("kg", "forwards", "neighbour").iter_rows()}  # fmt: skip
    assert edges == {(0, False, 3), (1, False, 3), (2, False, 3), (0, True, 5), (1, True, 5)}
    assert dict(shared.select("neighbour_group", "kgs").iter_rows()) == {3: 3, 5: 2}
    alone = shared_neighbours(
        alignment.task.kgs, Groups(alignment.task.kg_names, np.full((1, 3), 4, np.int32)), np.array([0])
    )
    assert alone.is_empty()


def test_wrong_groups_are_marked_and_no_group_is_shown_twice() -> None:
    alignment = chain_alignment(2, 12)
    members = alignment.found.groups.members.copy()
    members[[0, 1], 1] = members[[1, 0], 1]
    alignment = replace(
        alignment, found=FoundGroups.from_members(Groups(alignment.task.kg_names, members), alignment.found.confidence)
    )
    most, least = groups_by_confidence(Subject(Run(alignment)))
    assert most.body.count('<span class="verdict wrong">') == 2
    assert most.body.count('<span class="verdict correct">') == 8
    assert least.body.count("<details") == 2
