"""All matrices give the same answers: the base class, sparse scores and a plain loop over rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from multiea.similarity import matrices
from multiea.similarity.matrices import Dense, Matrix
from multiea.similarity.sparse_scores import SparseScores
from support.scores import transposed

ROWS, COLUMNS = 9, 7


class RowByRow(Matrix):
    """A matrix that only defines its rows, so that all other methods are those of the base class."""

    def __init__(self, values: Tensor) -> None:
        self._values = values
        self.shape = (values.shape[0], values.shape[1])

    def rows(self, which: slice | Tensor) -> Tensor:
        return self._values[which]


def with_ties(seed: int) -> Tensor:
    """Scores with many ties; zeros are pairs without entry, some rows are empty."""
    rng = np.random.default_rng(seed)
    values = torch.from_numpy(rng.integers(0, 4, (ROWS, COLUMNS)) / 4).float()
    values[[0, ROWS - 1]] = 0
    return values


def without_ties(seed: int) -> Tensor:
    rng = np.random.default_rng(seed)
    values = torch.from_numpy((1 + rng.permutation(ROWS * COLUMNS).reshape(ROWS, COLUMNS)) / (ROWS * COLUMNS)).float()
    return values * torch.from_numpy(rng.random((ROWS, COLUMNS)) < 0.7)


def negative(seed: int) -> Tensor:
    return with_ties(seed) - 0.5 * (torch.from_numpy(np.random.default_rng(seed).random((ROWS, COLUMNS))) < 0.5)


def sparse_scores(values: Tensor) -> SparseScores:
    row, column = torch.nonzero(values, as_tuple=True)
    return SparseScores(row, column, values[row, column], (values.shape[0], values.shape[1]))


def all_pairs() -> tuple[Tensor, Tensor]:
    row, column = torch.meshgrid(torch.arange(ROWS), torch.arange(COLUMNS), indexing="ij")
    order = torch.randperm(ROWS * COLUMNS, generator=torch.Generator().manual_seed(0))
    return row.flatten()[order], column.flatten()[order]


@pytest.fixture(params=[1, 20, 1 << 24])
def block_size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(matrices, "BLOCK_NUMBERS", request.param)


@pytest.mark.parametrize("make", [with_ties, without_ties, negative])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.usefixtures("block_size")
def test_scores_of_pairs_agree(make: Callable[[int], Tensor], seed: int) -> None:
    values = make(seed)
    row, column = all_pairs()
    for matrix in (RowByRow(values), Dense(values), sparse_scores(values), transposed(sparse_scores(values.t()))):
        assert torch.equal(matrix.at(row, column), values[row, column])
        assert matrix.at(row[:0], column[:0]).shape == (0,)


@pytest.mark.parametrize("make", [with_ties, without_ties, negative])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.usefixtures("block_size")
def test_better_and_tied_columns_agree_with_a_loop(make: Callable[[int], Tensor], seed: int) -> None:
    values = make(seed)
    row, column = all_pairs()
    pairs = list(zip(row.tolist(), column.tolist(), strict=True))
    expected_better = [int((values[r] > values[r, c]).sum()) for r, c in pairs]
    expected_tied = [int((values[r] == values[r, c]).sum()) for r, c in pairs]
    for matrix in (RowByRow(values), Dense(values), sparse_scores(values)):
        better, tied = matrix.better_and_tied(row, column)
        assert better.tolist() == expected_better
        assert tied.tolist() == expected_tied


@pytest.mark.parametrize("allow_ties", [False, True])
@pytest.mark.parametrize("make", [with_ties, without_ties])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.usefixtures("block_size")
def test_best_columns_agree_with_a_loop(make: Callable[[int], Tensor], seed: int, allow_ties: bool) -> None:
    values = make(seed)
    has_scores = (values > 0).any(dim=1)
    expected = []
    for of_row in values:
        best = torch.nonzero(of_row == of_row.max())[:, 0].tolist()
        expected.append(best[0] if allow_ties or len(best) == 1 else -1)
    for matrix in (RowByRow(values), Dense(values)):
        columns, scores = matrix.best_columns(allow_ties=allow_ties)
        assert columns.tolist() == expected
        assert torch.equal(scores, values.amax(1))
    columns, scores = sparse_scores(values).best_columns(allow_ties=allow_ties)
    assert torch.equal(columns[has_scores], torch.tensor(expected)[has_scores])
    assert (columns[~has_scores] == -1).all()  # a row without candidates has no best column, even if ties are allowed
    assert torch.equal(scores, values.amax(1))


@pytest.mark.usefixtures("block_size")
def test_nan_never_looks_like_a_good_score() -> None:
    values = with_ties(1)
    broken = values.clone()
    row, column = (int(part[0]) for part in torch.nonzero(values, as_tuple=True))
    broken[row, column] = torch.nan
    at = torch.tensor([row]), torch.tensor([column])
    results = [matrix.better_and_tied(*at) for matrix in (RowByRow(broken), Dense(broken), sparse_scores(broken))]
    for better, tied in results:
        assert better.tolist() == [COLUMNS - 1]
        assert tied.tolist() == [1]
    others = [other for other in range(COLUMNS) if other != column]
    pairs = torch.full((len(others),), row), torch.tensor(others)
    lowered = values.clone()
    lowered[row, column] = -1  # NaN counts as the lowest score
    for matrix in (RowByRow(broken), Dense(broken)):
        for one, expected in zip(matrix.better_and_tied(*pairs), Dense(lowered).better_and_tied(*pairs), strict=True):
            assert torch.equal(one, expected)
    better, _ = sparse_scores(broken).better_and_tied(*pairs)
    assert torch.equal(better, Dense(lowered).better_and_tied(*pairs)[0])


def test_a_matrix_without_entries_has_no_best_columns_and_all_ties() -> None:
    empty = sparse_scores(torch.zeros(ROWS, COLUMNS))
    columns, scores = empty.best_columns(allow_ties=True)
    assert (columns == -1).all()
    assert not scores.any()
    row, column = all_pairs()
    better, tied = empty.better_and_tied(row, column)
    assert not better.any()
    assert (tied == COLUMNS).all()
    assert not empty.at(row, column).any()


def test_a_matrix_without_rows_gives_empty_answers() -> None:
    for matrix in (RowByRow(torch.zeros(0, COLUMNS)), sparse_scores(torch.zeros(0, COLUMNS))):
        columns, scores = matrix.best_columns()
        assert columns.shape == scores.shape == (0,)


def test_a_single_candidate_is_the_best_column() -> None:
    values = torch.tensor([[0.5], [0.1]])
    for matrix in (RowByRow(values), sparse_scores(values)):
        assert matrix.best_columns()[0].tolist() == [0, 0]
