"""What a machine says about itself.

Nodes are sent this module as it is, since they may have another multiea, or none: nothing of multiea is imported above.
"""

from __future__ import annotations

import hashlib
import importlib
import platform
from importlib.metadata import version
from pathlib import Path
from typing import Any

NOTHING = "none"


def versions() -> dict[str, str]:
    """The versions that must be the same on all nodes; `source` is a hash of the code of multiea."""
    found = {"Python": platform.python_version(), "Ray": version("ray"), "numpy": version("numpy")}
    try:
        package = Path(importlib.import_module("multiea").__file__ or "").parent
        found["multiea"] = str(importlib.import_module("multiea.foundation.version").__version__)
        found["source"] = source_hash(package)
    except ImportError:
        found |= {"multiea": NOTHING, "source": NOTHING}
    return found


def source_hash(package: Path) -> str:
    """A hash of all modules of a package: two copies with the same version may differ."""
    digest = hashlib.sha256()
    for file in sorted(package.rglob("*.py")):
        digest.update(file.relative_to(package).as_posix().encode() + b"\0" + file.read_bytes())
    return digest.hexdigest()[:12]


def answer(token_file: str, node: str) -> dict[str, Any]:
    """Versions, memory, and the token in the work folder, a copy of which is written beside it."""
    found = versions()
    sizes = {"total_memory": 0, "free_memory": 0}
    if found["multiea"] != NOTHING:
        try:
            memory = importlib.import_module("multiea.foundation.memory_budget")
            sizes = {"total_memory": memory.total_memory(), "free_memory": memory.available_memory()}
        except ImportError:  # an older version
            pass
    try:
        token = Path(token_file).read_text(encoding="utf-8")
        Path(f"{token_file}-{node}").write_text(token, encoding="utf-8")
    except OSError as error:
        token = f"error: {error.strerror}"
    return {"versions": found, "token": token} | sizes
