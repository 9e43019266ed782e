"""Name models: tiny real models, made here, turn names into vectors; what is not a model is refused clearly."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from multiea.evidence import name_model
from multiea.evidence.name_model import load_name_model
from multiea.foundation.errors import InputError, SettingError

pytest.importorskip("model2vec", reason="the extra `lm` is not installed")
pytest.importorskip("sentence_transformers", reason="the extra `lm` is not installed")

WORDS = ("[UNK]", "[PAD]", "oslo", "norway", "paris", "france")
NAMES = ["oslo", "oslo norway", "", "paris", "oslo", "   ", "france paris"]
KINDS = ("model2vec", "sentence-transformers")


def tokenizer() -> Any:
    from tokenizers import Tokenizer, models, pre_tokenizers

    made = Tokenizer(models.WordLevel({word: number for number, word in enumerate(WORDS)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    return made


def write_model2vec(folder: Path, *, vectors: np.ndarray | None = None) -> Path:
    from model2vec import StaticModel

    if vectors is None:
        vectors = np.random.default_rng(0).normal(size=(len(WORDS), 5)).astype(np.float32)
    StaticModel(vectors, tokenizer(), config={"model_type": "model2vec"}).save_pretrained(folder)
    return folder


def write_sentence_transformer(folder: Path, *, with_pooling: bool = True) -> Path:
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    torch.manual_seed(0)
    shape = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
    BertModel(BertConfig(vocab_size=len(WORDS), **shape)).save_pretrained(folder / "bert")
    fast = PreTrainedTokenizerFast(tokenizer_object=tokenizer(), unk_token="[UNK]", pad_token="[PAD]")
    fast.save_pretrained(folder / "bert")
    transformer = Transformer(str(folder / "bert"))
    SentenceTransformer(modules=[transformer, Pooling(8)], device="cpu").save(str(folder / "model"))
    if not with_pooling:
        modules = json.loads((folder / "model" / "modules.json").read_text(encoding="utf-8"))
        (folder / "model" / "modules.json").write_text(json.dumps(modules[:1]), encoding="utf-8")
    return folder / "model"


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {
        "model2vec": write_model2vec(tmp_path_factory.mktemp("model2vec")),
        "sentence-transformers": write_sentence_transformer(tmp_path_factory.mktemp("sentence-transformers")),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_names_become_vectors_of_unit_length_and_empty_names_zero(models: dict[str, Path], kind: str) -> None:
    vectors = load_name_model(models[kind]).encode(NAMES)
    assert vectors.dtype == np.float32
    assert vectors.shape[0] == len(NAMES)
    is_empty = np.array([not name.strip() for name in NAMES])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), np.where(is_empty, 0, 1), atol=1e-5)
    np.testing.assert_array_equal(vectors[0], vectors[4])
    assert vectors[0] @ vectors[1] < 0.999  # different names, different vectors


@pytest.mark.parametrize("kind", KINDS)
def test_the_order_of_names_has_no_influence(models: dict[str, Path], kind: str) -> None:
    model = load_name_model(models[kind])
    order = np.random.default_rng(0).permutation(len(NAMES))
    np.testing.assert_array_equal(model.encode([NAMES[i] for i in order]), model.encode(NAMES)[order])


@pytest.mark.parametrize("kind", KINDS)
def test_names_are_encoded_in_blocks(models: dict[str, Path], kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model = load_name_model(models[kind])
    whole = model.encode(NAMES)
    monkeypatch.setattr(name_model, "BLOCK_NAMES", 2)
    np.testing.assert_allclose(model.encode(NAMES), whole, atol=1e-5)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("names", [[], ["", " "]], ids=["none", "empty ones"])
def test_no_names_give_no_or_zero_vectors_of_the_same_width(
    models: dict[str, Path], kind: str, names: Sequence[str]
) -> None:
    model = load_name_model(models[kind])
    vectors = model.encode(names)
    assert vectors.shape == (len(names), model.encode(["oslo"]).shape[1])
    assert not vectors.any()


def test_a_model2vec_vector_is_the_mean_of_the_vectors_of_its_words(tmp_path: Path) -> None:
    vectors = np.eye(len(WORDS), dtype=np.float32)
    found = load_name_model(write_model2vec(tmp_path, vectors=vectors)).encode(["oslo norway", "oslo unheard"])
    np.testing.assert_allclose(found, [(vectors[2] + vectors[3]) / np.sqrt(2), vectors[2]], atol=1e-6)


@pytest.mark.parametrize("kind", KINDS)
def test_loading_asks_no_server(models: dict[str, Path], kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[object] = []  # a library may catch the error and go on, so that the attempts are counted as well

    def refuse(*arguments: Any) -> None:
        asked.append(arguments)
        raise OSError("no connection in this test")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert load_name_model(models[kind]).encode(["oslo"]).any()
    assert not asked


def refusal(folder: Path) -> str:
    with pytest.raises(InputError) as caught:
        load_name_model(folder).encode(["oslo"])
    assert caught.value.path is not None
    return str(caught.value)


def test_a_folder_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    message = refusal(tmp_path / "nowhere")
    assert "no such folder" in message
    assert "not downloaded" in message


def test_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "model").write_text("", encoding="utf-8")
    assert "this is a file" in refusal(tmp_path / "model")


@pytest.mark.parametrize("config", [None, "{}", '{"model_type": "bert"}'])
def test_a_folder_that_is_no_model_is_refused(tmp_path: Path, config: str | None) -> None:
    if config is not None:
        (tmp_path / "config.json").write_text(config, encoding="utf-8")
    message = refusal(tmp_path)
    assert "not a name model" in message
    assert "modules.json" in message
    assert "model2vec" in message


@pytest.mark.parametrize(("config", "words"), [("{", "invalid JSON"), ("[]", "expected an object")])
def test_a_config_that_is_no_json_object_is_refused(tmp_path: Path, config: str, words: str) -> None:
    (tmp_path / "config.json").write_text(config, encoding="utf-8")
    assert words in refusal(tmp_path)


def test_a_model2vec_folder_without_its_tokenizer_is_refused_by_its_name(tmp_path: Path) -> None:
    (write_model2vec(tmp_path) / "tokenizer.json").unlink()
    assert "without tokenizer.json" in refusal(tmp_path)


def test_a_model_with_damaged_weights_is_refused(tmp_path: Path) -> None:
    (write_model2vec(tmp_path) / "model.safetensors").write_bytes(b"not weights")
    assert "cannot be loaded" in refusal(tmp_path)


def test_a_model_with_too_few_vectors_is_refused(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    write_model2vec(tmp_path)
    save_file({"embeddings": np.ones((3, 4), dtype=np.float32)}, tmp_path / "model.safetensors")
    message = refusal(tmp_path)
    assert "cannot be loaded" in message
    assert "tokens (6)" in message


def test_vectors_that_are_no_numbers_are_refused_with_the_name(tmp_path: Path) -> None:
    vectors = np.ones((len(WORDS), 3), dtype=np.float32)
    vectors[2, 1] = np.nan
    message = refusal(write_model2vec(tmp_path, vectors=vectors))
    assert "no finite vector" in message
    assert "'oslo'" in message


def test_a_model_that_gives_a_number_for_each_name_is_refused(tmp_path: Path) -> None:
    from safetensors.numpy import save_file

    write_model2vec(tmp_path)
    save_file({"embeddings": np.ones(len(WORDS), dtype=np.float32)}, tmp_path / "model.safetensors")
    assert refusal(tmp_path)


def test_a_transformer_without_pooling_is_refused(tmp_path: Path) -> None:
    assert "name model" in refusal(write_sentence_transformer(tmp_path, with_pooling=False))


def test_a_model_that_brings_its_own_code_is_refused(tmp_path: Path) -> None:
    modules = [{"idx": 0, "name": "0", "path": "", "type": "own_code.Module"}]
    (tmp_path / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    (tmp_path / "own_code.py").write_text("raise SystemExit('it was run')", encoding="utf-8")
    assert "own_code" in refusal(tmp_path)


@pytest.mark.parametrize(("kind", "module"), [("model2vec", "model2vec"), (KINDS[1], "sentence_transformers")])
def test_a_missing_package_is_named_with_the_extra_that_has_it(
    models: dict[str, Path], kind: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)  # an import of it fails
    with pytest.raises(SettingError, match=r"multiea\[lm\]"):
        load_name_model(models[kind])
