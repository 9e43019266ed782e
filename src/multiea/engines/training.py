"""Training an encoder on groups: margin loss against random negatives, early stopping by a score handed in."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn.functional import relu

from multiea.data.groups import ABSENT
from multiea.engines.encoders.base import Encoder
from multiea.engines.negatives import draw_negatives
from multiea.engines.strategies import OWN, STRATEGIES, Strategy
from multiea.foundation import progress
from multiea.foundation.errors import MultiEAError, SettingError, resolve
from multiea.foundation.memory import PeakMemory
from multiea.graph.sparse import gather_rows
from multiea.settings.fields import setting

Score = tuple[float, ...]  # compared from left to right, the higher the better
CHUNK_NUMBERS = 1 << 25  # of the negatives' embeddings at a time


@dataclass(frozen=True)
class Training:
    """How an encoder is trained: the paper's settings."""

    strategy: str = setting("mean", "How a group is pulled together: each, anchor, mean, or own (psr alone has one).")
    anchor: str | None = setting(None, "The anchor KG of strategy anchor; by default the one with most triples.")
    dimensions: int = setting(256, "Numbers of an embedding.")
    layers: int = setting(2, "Layers of the encoder, where it has some.")
    learning_rate: float = setting(0.01, "The step of Adam.")
    margin: float = setting(1.0, "How much farther apart than a group its negatives have to be.")
    negatives: int = setting(10, "False groups drawn for each member of a group (the paper's eta).")
    refresh_every: int = setting(1, "Negatives are drawn anew after so many epochs.")
    epochs: int = setting(100, "The most epochs to train.")
    look_every: int = setting(5, "Validation groups are looked at after so many epochs.")
    patience: int = setting(10, "So many looks without a gain end training.")
    validation_ratio: float = setting(0.1, "Share of the seeds set aside to tell when to stop.")

    def __post_init__(self) -> None:
        resolve(self.strategy, {**STRATEGIES, OWN: None}, what="strategy")
        if self.anchor is not None and self.strategy != "anchor":
            raise SettingError(f"an anchor KG changes nothing with strategy '{self.strategy}'; use strategy 'anchor'")
        for name in ("dimensions", "layers", "negatives", "refresh_every", "epochs", "look_every", "patience"):
            if getattr(self, name) < 1:
                raise SettingError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not 0 < self.learning_rate < math.inf:
            raise SettingError(f"learning_rate must be above 0, got {self.learning_rate}")
        if not 0 <= self.margin < math.inf:
            raise SettingError(f"margin must be at least 0, got {self.margin}")
        if not 0 <= self.validation_ratio < 1:
            raise SettingError(f"validation_ratio must be at least 0 and below 1, got {self.validation_ratio}")


@dataclass
class History:
    """What happened in training: losses by epoch, validation scores by epoch, and which epoch was best."""

    losses: list[float] = field(default_factory=list)
    validation: dict[int, Score] = field(default_factory=dict)
    best_epoch: int = 0
    parameters: int = 0
    peak_memory_mb: float = 0.0  # held at most while training: by tensors on a GPU, by the process on a CPU
    seconds: float = 0.0
    interrupted: bool = False


def fit(
    encoder: Encoder,
    groups: Tensor,
    entity_offsets: tuple[int, ...],
    settings: Training,
    *,
    anchor: int,
    epochs: int,
    generator: torch.Generator,
    validate: Callable[[Tensor], Score] | None = None,
    what: str = "training",
) -> tuple[Tensor, History]:
    """Trains an encoder on groups, (G, M) joint ids with -1 where absent; returns its embeddings and what happened.

    The loss is that of pulling groups together, and what the encoder adds of its own.

    With a validation score the embeddings are those of the best look, without one those of the last epoch. Ctrl-C ends
    training with the best so far.
    """
    history = History(parameters=sum(parameter.numel() for parameter in encoder.parameters()))
    optimizer = torch.optim.Adam(encoder.parameters(), lr=settings.learning_rate)
    peak = PeakMemory()
    if groups.device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(groups.device)
    own = settings.strategy == OWN
    if own and type(encoder).alignment_loss is Encoder.alignment_loss:
        raise SettingError("only psr has a way of its own to pull groups together; use strategy each, anchor or mean")
    encoder.begin(groups, own=own)
    best: Tensor | None = None
    best_score: Score = ()
    waited, start = 0, time.perf_counter()
    with progress.stage(what, epochs) as advance:
        try:
            for epoch in range(1, epochs + 1):
                optimizer.zero_grad()
                if settings.strategy == OWN:
                    loss = _stepped_back(encoder.alignment_loss(generator))
                else:
                    if (epoch - 1) % settings.refresh_every == 0:
                        negatives = draw_negatives(groups, entity_offsets, settings.negatives, generator)
                    strategy = STRATEGIES[settings.strategy]
                    embeddings = encoder()  # (N, d)
                    loss, gradient = margin_loss(embeddings, groups, negatives, strategy, anchor, settings.margin)
                    embeddings.backward(gradient)
                loss += _stepped_back(encoder.own_loss(generator))
                if not math.isfinite(loss):
                    raise MultiEAError(
                        f"training diverged in epoch {epoch}: the loss is {loss}; lower the learning rate"
                    )
                optimizer.step()
                history.losses.append(loss)
                advance(1, f"loss {loss:,.1f}" + (f", validation {best_score[0]:.1%}" if best_score else ""))
                if validate is None or (epoch % settings.look_every and epoch != epochs):
                    continue
                with torch.no_grad():
                    current = encoder()
                score = history.validation[epoch] = validate(current)
                if score > best_score:
                    best, best_score, waited, history.best_epoch = current, score, 0, epoch
                elif (waited := waited + 1) >= settings.patience:
                    break
        except KeyboardInterrupt:
            history.interrupted = True
    if best is None:
        history.best_epoch = len(history.losses)
        with torch.no_grad():
            best = encoder()
    history.seconds = time.perf_counter() - start
    cuda = groups.device.type == "cuda"
    history.peak_memory_mb = torch.cuda.max_memory_allocated(groups.device) / 1e6 if cuda else peak.megabytes()
    return best, history


def margin_loss(
    embeddings: Tensor, groups: Tensor, negatives: Tensor, strategy: Strategy, anchor: int, margin: float
) -> tuple[float, Tensor]:
    """The loss of eq. 9 and its gradient with respect to the embeddings, (N, d).

    L = sum over groups l and their negatives l' of max(d(l) - d(l') + margin, 0). In chunks of groups: the negatives'
    embeddings of all groups at once would be by far the largest tensor of all.
    """
    leaf = embeddings.detach().requires_grad_()
    total = 0.0
    of_one_group = max(1, negatives[0].numel() * embeddings.shape[1]) if len(groups) else 1
    size = max(1, CHUNK_NUMBERS // of_one_group)
    for start in range(0, len(groups), size):
        some, false = groups[start : start + size], negatives[start : start + size]
        positive = _distances(leaf, some, strategy, anchor)  # (G,)
        negative = _distances(leaf, false, strategy, anchor)  # (G, rounds, M)
        counts = (some != ABSENT)[:, None, :]  # a negative without its kept member is none
        loss = (relu(positive[:, None, None] - negative + margin) * counts).sum()
        loss.backward()  # type: ignore[no-untyped-call]
        total += float(loss.detach())
    gradient = leaf.grad if leaf.grad is not None else torch.zeros_like(leaf)
    return total, gradient


def _stepped_back(loss: Tensor | None) -> float:
    """A loss whose gradients are added to the parameters' own; zero where there is none."""
    if loss is None:
        return 0.0
    loss.backward()  # type: ignore[no-untyped-call]
    return float(loss.detach())


def _distances(embeddings: Tensor, ids: Tensor, strategy: Strategy, anchor: int) -> Tensor:
    return strategy(gather_rows(embeddings, ids.clamp(min=0)), ids != ABSENT, anchor)
