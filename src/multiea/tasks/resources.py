"""Where an alignment runs and with how much memory. It changes no result, and is no part of a run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from multiea.foundation.errors import OutputError, path_of
from multiea.foundation.memory_budget import parse_memory
from multiea.tasks.cluster import check_address


@dataclass(frozen=True)
class Resources:
    """memory: such as 8GiB, on each machine. work_folder: for shards. cluster: auto, local or an address."""

    memory: str | int | None = None
    work_folder: str | Path | None = None
    cluster: str | None = None

    def __post_init__(self) -> None:
        if self.memory is not None:
            parse_memory(self.memory)
        if self.cluster is not None:
            check_address(self.cluster)
        if self.work_folder is not None:
            path_of(self.work_folder, "a work folder")


def refuse_overlap(out: Path, resources: Resources | None) -> None:
    """Refuses, before long work, an output inside of the work folder or the other way round."""
    if resources is None or resources.work_folder is None:
        return
    work, result = Path(resources.work_folder).resolve(), out.resolve()
    if work.is_relative_to(result) or result.is_relative_to(work):
        raise OutputError(
            f"--out {out} and --work-folder {resources.work_folder} overlap; choose two folders beside each other"
        )
