"""Numbers that describe relations: directions that dominate their states in all KGs count less."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor
from torch.nn.functional import normalize

LEAST_LENGTH = 0.01  # of a direction relative to the mean: shorter ones are mostly noise
MOST_ROWS = 1 << 13  # the sample from which the directions are estimated
ITERATIONS = 2  # of the subspace of principal directions; more change little
NEGLIGIBLE = 1e-12  # of an eigenvalue relative to the largest


def damp_and_project(states: Sequence[Sequence[Tensor]], projection: Tensor, strength: float) -> list[Tensor]:
    """For each KG the states of all hops, damped, concatenated and projected, (n, out), of unit length.

    states: for each KG one (n, d) tensor per hop. projection: (hops * d, out). States are multiplied by
    C ** (-strength / 2), where C is the covariance of a hop's states over all KGs; with strength 1 all directions count
    the same.
    """
    with _one_thread():
        return _damped_and_projected(states, projection, strength)


def _damped_and_projected(states: Sequence[Sequence[Tensor]], projection: Tensor, strength: float) -> list[Tensor]:
    matrices = projection.view(len(states[0]), states[0][0].shape[1], -1)
    if strength:
        stride = max(1, sum(len(of_kg[0]) for of_kg in states) // MOST_ROWS)
        samples = [torch.cat([state[::stride] for state in of_hop]) for of_hop in zip(*states, strict=True)]
        matrices = torch.stack([_damping_matrix(sample, strength) for sample in samples]) @ matrices
    return [normalize(sum(map(torch.matmul, of_kg, matrices), start=projection.new_zeros(()))) for of_kg in states]


def principal_numbers(states: Sequence[Sequence[Tensor]], start: Tensor, strength: float) -> list[Tensor]:
    """The same, projected to the directions in which relations differ most; then to those the damping is applied.

    Better than random directions where many relations get few numbers. start: the random projection from which the
    directions are found by subspace iteration. They depend smoothly on the states, whatever eigenvectors are.
    """
    with _one_thread():
        joint = [normalize(torch.cat(list(of_kg), 1).double()) for of_kg in states]
        stride = max(1, sum(map(len, joint)) // MOST_ROWS)
        sample = torch.cat([of_kg[::stride] for of_kg in joint])
        directions = start.double()
        for _ in range(ITERATIONS):
            directions = sample.t() @ (sample @ directions)
            directions = directions @ _power(directions.t() @ directions, -0.5)  # orthonormal
        numbers = sample @ directions
        directions = directions @ _power(numbers.t() @ numbers, -strength / 2, least=LEAST_LENGTH)
        return [normalize(of_kg @ directions).float() for of_kg in joint]


def _power(square: Tensor, exponent: float, least: float = 0.0) -> Tensor:
    """A power of a symmetric matrix, zero in the directions in which it is zero.

    least: eigenvalues below this part of the mean one count as this part.
    """
    lengths, directions = torch.linalg.eigh(square)
    is_there = lengths > NEGLIGIBLE * lengths[-1]
    lowest = (least * lengths.mean()).clamp(min=1e-300)
    factors = torch.where(is_there, torch.maximum(lengths, lowest) ** exponent, 0)
    power: Tensor = (directions * factors) @ directions.t()
    return power


@contextmanager
def _one_thread() -> Iterator[None]:
    """The sums of a product, and with them the directions, would depend on the number of threads."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def _damping_matrix(sample: Tensor, strength: float) -> Tensor:
    """C ** (-strength / 2) for C = sample' sample, scaled to mean one on its diagonal; uses the smaller side."""
    rows, size = sample.shape
    few = rows < size
    square = sample @ sample.t() if few else sample.t() @ sample
    lengths, directions = _eigen_decomposition(square)
    mean = (lengths.sum() / size).clamp(min=1e-12)
    if few:  # the directions on the other side; all others have length zero
        directions = sample.t() @ (directions / lengths.clamp(min=1e-6 * float(mean)).sqrt())
    lowest = LEAST_LENGTH ** (-strength / 2)
    factors = (lengths / mean).clamp(min=LEAST_LENGTH) ** (-strength / 2)
    damped: Tensor = (directions * (factors - lowest if few else factors)) @ directions.t()
    if few:
        damped = damped + lowest * torch.eye(size, device=sample.device)
    return damped.float()


def _eigen_decomposition(square: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenvalues and eigenvectors; in double precision where single does not converge (many equal eigenvalues)."""
    try:
        lengths, directions = torch.linalg.eigh(square)
    except torch.linalg.LinAlgError:  # type: ignore[attr-defined]  # documented, yet not exported
        lengths, directions = torch.linalg.eigh(square.double())
    return lengths.to(square), directions.to(square)
