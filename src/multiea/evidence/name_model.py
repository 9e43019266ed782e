"""Language models that turn names into vectors (extra `lm`): sentence-transformers or model2vec folders on disk.

Nothing is downloaded, and no code from the folder is run.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from multiea.foundation import progress
from multiea.foundation.errors import InputError, SettingError, counted

Vectors = NDArray[np.float32]
Encode = Callable[[list[str]], Any]

MODEL2VEC_FILES = ("config.json", "tokenizer.json", "model.safetensors")
EXPECTED = f"modules.json (sentence-transformers), or {', '.join(MODEL2VEC_FILES)} with model_type model2vec"
BLOCK_NAMES = 1 << 14
DETAIL_CHARACTERS = 300


class NameModel:
    """A language model that was loaded from a folder."""

    def __init__(self, folder: Path, encode: Encode) -> None:
        self.folder = folder
        self._encode = encode

    def encode(self, names: Sequence[str]) -> Vectors:
        """The vectors of names, (n, d): rows of unit length, zero for an empty name or one that the model cannot read.

        Each distinct name is encoded once, in the order of the alphabet, so that the order of names has no influence.
        """
        stripped = pl.Series(names, dtype=pl.String).fill_null("").str.strip_chars()
        distinct = stripped.filter(stripped != "").unique().sort()
        blocks = [self._block(["name"])[:0]]  # has the width of the vectors, also where no name is left
        with progress.stage("encoding names", len(distinct)) as advance:
            for start in range(0, len(distinct), BLOCK_NAMES):
                block = distinct[start : start + BLOCK_NAMES].to_list()
                blocks.append(self._block(block))
                advance(len(block))
        of_empty = np.zeros((1, blocks[0].shape[1]), dtype=np.float32)
        vectors: Vectors = np.concatenate([*blocks, of_empty])
        row_of_name = pl.DataFrame({"name": distinct}).with_row_index("row")
        rows = pl.DataFrame({"name": stripped}).join(row_of_name, on="name", how="left", maintain_order="left")["row"]
        return np.take(vectors, rows.fill_null(len(distinct)).to_numpy(), axis=0)

    def _block(self, names: list[str]) -> Vectors:
        """The vectors of some names that are not empty; vectors of a wrong shape and no numbers are errors."""
        try:
            vectors: Vectors = np.array(self._encode(names), dtype=np.float32)
        except MemoryError:
            raise
        except Exception as error:
            raise InputError(
                f"the name model failed on {counted(len(names), 'name')}: {_detail(error)}", path=self.folder
            ) from error
        if vectors.ndim != 2 or len(vectors) != len(names) or vectors.shape[1] == 0:
            raise InputError(
                f"the name model gives vectors of shape {vectors.shape} for {counted(len(names), 'name')}",
                path=self.folder,
                expected="one vector per name",
                hint="Use a model that gives one vector per text",
            )
        if not np.isfinite(vectors).all():
            wrong = names[int(np.flatnonzero(~np.isfinite(vectors).all(axis=1))[0])]
            raise InputError(
                f"the name model gives no finite vector for the name {wrong!r}",
                path=self.folder,
                hint="The files of the model may be damaged; copy them again, or use another model",
            )
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        lengths[lengths == 0] = 1
        vectors /= lengths
        return vectors


def load_name_model(folder: Path, *, device: str = "cpu") -> NameModel:
    """The model in a folder of sentence-transformers or of model2vec. The device is for sentence-transformers."""
    folder = Path(folder)
    if not folder.is_dir():
        found = "this is a file" if folder.exists() else "no such folder"
        hint = "Models are not downloaded: name a folder that has the files of a model"
        raise InputError(f"name model: {found}", path=folder, expected="a folder with a model", hint=hint)
    is_model2vec = _json_object(folder / "config.json").get("model_type") == "model2vec"
    if is_model2vec:
        missing = [file for file in MODEL2VEC_FILES if not (folder / file).is_file()]
        if missing:
            raise InputError(
                f"a model2vec model without {', '.join(missing)}", path=folder, expected=", ".join(MODEL2VEC_FILES)
            )
    elif not (folder / "modules.json").is_file():
        raise InputError("not a name model", path=folder, expected=EXPECTED)
    library = _import_extra("model2vec" if is_model2vec else "sentence_transformers")
    try:
        with _offline():
            encode = _model2vec(library, folder) if is_model2vec else _sentence_transformer(library, folder, device)
    except MemoryError:
        raise
    except Exception as error:  # each library has its own errors for files that are damaged or do not fit together
        raise InputError(f"the name model cannot be loaded: {_detail(error)}", path=folder) from error
    return NameModel(folder, encode)


def _model2vec(library: Any, folder: Path) -> Encode:
    model = library.StaticModel.from_pretrained(folder)
    # Threads of its own would compete with those of the libraries that compute on the vectors.
    return lambda names: model.encode(names, use_multiprocessing=False)


def _sentence_transformer(library: Any, folder: Path, device: str) -> Encode:
    with _without_progress_bar():  # the command line shows progress itself
        model = library.SentenceTransformer(str(folder), device=device, local_files_only=True, trust_remote_code=False)
    return lambda names: model.encode(names, show_progress_bar=False, convert_to_numpy=True)


def _import_extra(module: str) -> Any:
    """A module of the extra `lm`, or an error that says how to install it."""
    try:
        return import_module(module)
    except ImportError:
        package = module.replace("_", "-")
        raise SettingError(f"this name model needs {package}: pip install 'multiea[lm]'") from None


@contextmanager
def _offline() -> Iterator[None]:
    """Keeps the libraries from asking a server for files that the folder does not have."""
    constants = import_module("huggingface_hub").constants
    before, constants.HF_HUB_OFFLINE = constants.HF_HUB_OFFLINE, True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE = before


@contextmanager
def _without_progress_bar() -> Iterator[None]:
    logging = import_module("transformers").utils.logging
    was_shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if was_shown:
            logging.enable_progress_bar()


def _json_object(path: Path) -> Mapping[str, Any]:
    """The object in a JSON file; empty if there is no such file."""
    if not path.is_file():
        return {}
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"name model: invalid JSON: {error}", path=path) from None
    if not isinstance(content, dict):
        raise InputError(f"name model: {type(content).__name__} in JSON", path=path, expected="an object")
    return content


def _detail(error: Exception) -> str:
    """What another library says about an error, on one line."""
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= DETAIL_CHARACTERS else text[:DETAIL_CHARACTERS] + " ..."
