"""Training an encoder on groups: margin loss against random negatives, early stopping by a validation score."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn.functional import relu

from multiea.data.groups import ABSENT
from multiea.engines.encoders.base import Encoder
from multiea.engines.negatives import draw_negatives
from multiea.engines.strategies import STRATEGIES, Strategy
from multiea.foundation import progress
from multiea.foundation.errors import MultiEAError, SettingError
from multiea.foundation.memory import PeakMemory
from multiea.graph.sparse import gather_rows
from multiea.settings.training import OWN_STRATEGY, Training

Score = tuple[float, ...]  # compared from left to right; higher is better
CHUNK_NUMBERS = 1 << 25  # of the negatives' embeddings at a time


@dataclass(frozen=True)
class TrainingGroups:
    """ids: (G, M) joint ids, -1 where absent. entity_offsets: (M + 1,). anchor: the number of the anchor KG."""

    ids: Tensor
    entity_offsets: tuple[int, ...]
    anchor: int


@dataclass
class History:
    """The course of a training: losses and validation scores by epoch, and the best epoch."""

    losses: list[float] = field(default_factory=list)
    validation: dict[int, Score] = field(default_factory=dict)
    best_epoch: int = 0
    parameters: int = 0
    peak_memory_mb: float = 0.0  # the maximum during training: of tensors on a GPU, of the process on a CPU
    seconds: float = 0.0
    interrupted: bool = False


def fit(
    encoder: Encoder,
    groups: TrainingGroups,
    settings: Training,
    *,
    epochs: int,
    generator: torch.Generator,
    validate: Callable[[Tensor], Score] | None = None,
    what: str = "training",
) -> tuple[Tensor, History]:
    """Trains an encoder on groups; returns its embeddings and the course of the training.

    The loss is the strategy's, plus the encoder's own loss. With a validation score, the embeddings are those of the
    best evaluation, otherwise those of the last epoch. Ctrl-C ends training with the best so far.
    """
    history = History(parameters=sum(parameter.numel() for parameter in encoder.parameters()))
    with _measured(history, groups.ids.device):
        train_epoch = _EpochTrainer(encoder, groups, settings, generator)
        best: Tensor | None = None
        best_score: Score = ()
        without_improvement = 0
        try:
            with progress.stage(what, epochs) as advance:
                for epoch in range(1, epochs + 1):
                    loss = train_epoch(epoch)
                    history.losses.append(loss)
                    advance(1, f"loss {loss:,.1f}" + (f", validation {best_score[0]:.1%}" if best_score else ""))
                    if validate is None or (epoch % settings.evaluate_every and epoch != epochs):
                        continue
                    current = _embeddings(encoder)
                    score = history.validation[epoch] = validate(current)
                    if score > best_score:
                        best, best_score, without_improvement, history.best_epoch = current, score, 0, epoch
                    elif (without_improvement := without_improvement + 1) >= settings.patience:
                        break
        except KeyboardInterrupt:
            history.interrupted = True
        if best is None:
            history.best_epoch = len(history.losses)
            best = _embeddings(encoder)
    return best, history


class _EpochTrainer:
    """One optimisation step per epoch, over all groups; returns the loss."""

    def __init__(
        self, encoder: Encoder, groups: TrainingGroups, settings: Training, generator: torch.Generator
    ) -> None:
        self._encoder, self._groups, self._settings, self._generator = encoder, groups, settings, generator
        self._optimizer = torch.optim.Adam(encoder.parameters(), lr=settings.learning_rate)
        self._own = settings.strategy == OWN_STRATEGY
        if self._own and type(encoder).alignment_loss is Encoder.alignment_loss:
            raise SettingError("only psr has its own alignment loss; use strategy each, anchor or mean")
        encoder.begin(groups.ids, own=self._own)
        self._negatives = torch.empty(0)

    def __call__(self, epoch: int) -> float:
        self._optimizer.zero_grad()
        if self._own:
            loss = _backward(self._encoder.alignment_loss(self._generator))
        else:
            loss = self._backward_margin_loss(epoch)
        loss += _backward(self._encoder.own_loss(self._generator))
        if not math.isfinite(loss):
            raise MultiEAError(f"training diverged in epoch {epoch}: the loss is {loss}; lower the learning rate")
        self._optimizer.step()
        return loss

    def _backward_margin_loss(self, epoch: int) -> float:
        groups, settings = self._groups, self._settings
        if (epoch - 1) % settings.refresh_every == 0:
            self._negatives = draw_negatives(groups.ids, groups.entity_offsets, settings.negatives, self._generator)
        embeddings = self._encoder()  # (N, d)
        strategy = STRATEGIES[settings.strategy]
        loss, gradient = margin_loss(embeddings, groups.ids, self._negatives, strategy, groups.anchor, settings.margin)
        embeddings.backward(gradient)
        return loss


@contextmanager
def _measured(history: History, device: torch.device) -> Iterator[None]:
    """Notes seconds and peak memory in the history."""
    peak, start, on_gpu = PeakMemory(), time.perf_counter(), device.type == "cuda"
    if on_gpu:
        torch.cuda.reset_peak_memory_stats(device)
    yield
    history.seconds = time.perf_counter() - start
    history.peak_memory_mb = torch.cuda.max_memory_allocated(device) / 1e6 if on_gpu else peak.megabytes()


def _embeddings(encoder: Encoder) -> Tensor:
    with torch.no_grad():
        embeddings: Tensor = encoder()
    return embeddings


def margin_loss(
    embeddings: Tensor, groups: Tensor, negatives: Tensor, strategy: Strategy, anchor: int, margin: float
) -> tuple[float, Tensor]:
    """The loss of eq. 9 and its gradient with respect to the embeddings, (N, d).

    L = sum over groups l and their negatives l' of max(d(l) - d(l') + margin, 0). It is computed in chunks of groups:
    the negatives' embeddings of all groups at once would be by far the largest tensor.
    """
    leaf = embeddings.detach().requires_grad_()
    total = 0.0
    numbers_per_group = max(1, negatives[0].numel() * embeddings.shape[1]) if len(groups) else 1
    size = max(1, CHUNK_NUMBERS // numbers_per_group)
    for start in range(0, len(groups), size):
        true, false = groups[start : start + size], negatives[start : start + size]
        positive = _distances(leaf, true, strategy, anchor)  # (G,)
        negative = _distances(leaf, false, strategy, anchor)  # (G, rounds, M)
        counts = (true != ABSENT)[:, None, :]  # a negative without its kept member does not count
        loss = (relu(positive[:, None, None] - negative + margin) * counts).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        total += float(loss.detach())
    gradient = leaf.grad if leaf.grad is not None else torch.zeros_like(leaf)
    return total, gradient


def _backward(loss: Tensor | None) -> float:
    """The value of a loss whose gradients are added to the parameters; zero where there is none."""
    if loss is None:
        return 0.0
    loss.backward()  # type: ignore[no-untyped-call]
    return float(loss.detach())


def _distances(embeddings: Tensor, ids: Tensor, strategy: Strategy, anchor: int) -> Tensor:
    return strategy(gather_rows(embeddings, ids.clamp(min=0)), ids != ABSENT, anchor)
