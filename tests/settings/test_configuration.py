"""Settings from files and words: what counts, what is refused and where it says so, and runs that run again."""

import inspect
import json
import re
import tomllib
from dataclasses import fields
from pathlib import Path

import polars as pl
import pytest
from multiea.settings.configuration import FIELDS, TOLD, Data, from_words
from multiea.settings.how import engine_names, unused_settings, usual_training
from typer.testing import CliRunner

import multiea
from multiea import SettingError, Settings
from multiea.cli.align import OPTIONS
from multiea.cli.main import app
from multiea.data.synthetic import Synthesis, write_synthetic
from multiea.foundation.errors import MultiEAError
from multiea.settings.fields import explanations
from multiea.settings.parsing import Given
from multiea.similarity.enhancement import Enhancement
from support.datasets import write_files

SMALL = ["--set", "training.epochs=4", "--set", "training.dimensions=16", "--set", "training.look_every=2"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("configuration")
    write_synthetic(Synthesis(kgs=3, entities=200, relations=10, overlap=0.8), folder)
    return folder


def multiea_says(*words: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, list(words))
    return result.exit_code, result.stdout, result.stderr


def aligned(*words: str) -> None:
    code, _, error = multiea_says("align", "--no-progress", *words)
    assert code == 0, error


def refused(*words: str) -> str:
    """The error a command exits with, in one line and without a result."""
    code, output, error = multiea_says(*words)
    assert code == 2
    assert output == ""
    assert error.startswith("error: ")
    assert error.count("\n") == 1
    return error.removeprefix("error: ").rstrip()


def refused_file(folder: Path, text: str | bytes, *words: str) -> str:
    """What is said of a file of settings, from its name on."""
    write_files(folder, {"my.toml": text})
    message = refused("align", "world", "--config", str(folder / "my.toml"), "--out", str(folder / "run"), *words)
    assert [path.name for path in folder.iterdir()] == ["my.toml"]
    assert message.startswith(f"{folder / 'my.toml'}: ")
    return message.removeprefix(f"{folder / 'my.toml'}: ")


def config(run: Path) -> dict[str, object]:
    return tomllib.loads((run / "config.toml").read_text(encoding="utf-8"))


# Runs that run again


@pytest.mark.parametrize(
    "words",
    [
        ["world"],
        ["DATA", "--engine", "multiea", *SMALL, "--strategy", "anchor", "--anchor", "kg2", "--random-state", "3"],
        ["DATA", "--engine", "propagation+multiea", "--fusion-weight", "0.4", *SMALL],
        ["DATA", "--engine", "psr", "--pairwise", "--strategy", "mean", *SMALL, "--set", "training.margin=2"],
        ["DATA", "--duplicates", "kg3", "--duplicates", "kg1", "--duplicates", "kg3", "--bootstrap", "test"],
        ["DATA", "--train-ratio", "0.6", "--enhancement", "profile", "--set", "propagation.hops=1"],
        ["DATA", "--set", "enhancement.candidates=none", "--set", "bootstrap.rounds=2"],
        ["DATA/kg1.tsv", "DATA/kg3.tsv", "--seeds", "strangers.tsv", "--lenient"],
        ["linked.tsv", "DATA/kg2.tsv", "--seeds", "linked-seeds.tsv", "--train-ratio", "0.5"],
    ],
    ids=" ".join,
)
def test_the_config_of_a_run_runs_it_again_from_anywhere(
    words: list[str], data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    Path("DATA").symlink_to(data)
    Path("linked.tsv").symlink_to(data / "kg1.tsv")
    known = pl.read_csv(data / "groups.tsv", separator="\t").drop_nulls(["kg1", "kg2", "kg3"])
    known.select(linked="kg1", kg2="kg2").write_csv("linked-seeds.tsv", separator="\t")
    strangers = pl.DataFrame({"kg1": ["nobody", known["kg1"][-1]], "kg3": [known["kg3"][-2], "nobody"]})
    pl.concat([known.select("kg1", "kg3").head(60), strangers]).write_csv("strangers.tsv", separator="\t")
    aligned(*words, "--out", "run")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    aligned("--config", str(tmp_path / "here" / "run" / "config.toml"), "--out", "again")
    first, again = tmp_path / "here" / "run", tmp_path / "elsewhere" / "again"
    assert (again / "groups.parquet").read_bytes() == (first / "groups.parquet").read_bytes()
    assert "found" in pl.read_parquet(again / "groups.parquet")["status"]
    for name in ("groups.tsv", "seeds.tsv", "held_out.tsv", "config.toml"):
        assert (again / name).read_text(encoding="utf-8") == (first / name).read_text(encoding="utf-8")
    assert multiea.open(again).enhancement == multiea.open(first).enhancement


def test_a_run_folder_may_be_named_itself_and_partly_changed(data: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    aligned(str(data), "--out", str(first), "--train-ratio", "0.5", "--set", "propagation.hops=1")
    aligned("--config", str(first), "--out", str(second), "--random-state", "7")
    assert config(second) == config(first) | {"random_state": 7}


def test_a_run_made_in_python_runs_again_on_its_data_set(data: Path, tmp_path: Path) -> None:
    task = multiea.load(data)
    multiea.align(task, enhancement=Enhancement(candidates=None)).save(tmp_path / "run")
    aligned(str(data), "--config", str(tmp_path / "run"), "--out", str(tmp_path / "again"))
    tables = [pl.read_parquet(tmp_path / name / "groups.parquet") for name in ("run", "again")]
    assert tables[0].equals(tables[1])


# What counts


def test_options_count_more_than_set_and_set_more_than_the_file(tmp_path: Path) -> None:
    text = 'engine = "kecg"\nrandom_state = 1\n[training]\nepochs = 1\nmargin = 1\nlayers = 1\n'
    write_files(tmp_path, {"my.toml": text + "[data]\nsource = ['a.tsv', 'b.tsv']\n"})
    write_files(tmp_path, {"a.tsv": "x\tr\ty\ny\tr\tz\n", "b.tsv": "x\tr\ty\ny\tr\tz\n", "s.tsv": "a\tb\nx\tx\ny\ty\n"})
    words = ["--set", "training.margin=2", "--set", "training.epochs=2", "--set", "training.margin=3", "--epochs", "5"]
    seeds = ["--set", f"data.seeds={tmp_path / 's.tsv'}"]
    aligned("--config", str(tmp_path / "my.toml"), *words, *seeds, "--out", str(tmp_path / "run"))
    settings = config(tmp_path / "run")
    assert (settings["engine"], settings["random_state"]) == ("kecg", 1)
    training = settings["training"]
    assert isinstance(training, dict)
    assert (training["layers"], training["margin"], training["epochs"]) == (1, 3, 5)
    assert training["look_every"] == usual_training("kecg").look_every
    assert settings["data"] == {
        "name": "a + b",
        "source": [str(tmp_path / "a.tsv"), str(tmp_path / "b.tsv")],
        "seeds": str(tmp_path / "s.tsv"),
        "lenient": False,
    }


def test_what_is_usual_depends_on_engine_and_mode(tmp_path: Path) -> None:
    write_files(tmp_path, {"my.toml": 'engine = "psr"\n[enhancement]\nmode = "profile"\n[training]\nmargin = 2\n'})
    settings = Settings.read(tmp_path / "my.toml")
    assert settings.training.strategy == "own"
    assert isinstance(settings.training.margin, float)
    assert settings.enhancement == Enhancement("profile")
    write_files(tmp_path, {"my.toml": ""})
    assert Settings.read(tmp_path / "my.toml") == Settings.usual()
    assert Settings.usual().enhancement.candidates == 50


def test_paths_in_a_file_are_relative_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_files(tmp_path, {"my.toml": "[data]\nsource = './world'\nseeds = 's.tsv'\n", "w.toml": "data.source='world'"})
    monkeypatch.chdir(tmp_path)
    settings = Settings.read("my.toml")
    assert settings.data == Data(source=(str(tmp_path / "world"),), seeds=str(tmp_path / "s.tsv"))
    assert Settings.read("w.toml").data.source == ("world",)


def test_settings_of_a_file_align_in_python_too(data: Path, tmp_path: Path) -> None:
    write_files(tmp_path, {"my.toml": f"[data]\nsource = '{data}'\ntrain_ratio = 0.5\n[propagation]\nhops = 1\n"})
    settings = Settings.read(tmp_path / "my.toml")
    alignment = multiea.align(settings.load(), **settings.arguments())
    assert alignment.settings["propagation"]["hops"] == 1
    assert alignment.task.seeds.members.tolist() == multiea.load(data, train_ratio=0.5).seeds.members.tolist()


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("random_state = 3", 3),
        ("device=cpu", "cpu"),
        ('device="cpu"', "cpu"),
        ("data.source=a=b.tsv", ("a=b.tsv",)),
        ("data.source=['a', 'b']", ("a", "b")),
        ("data.train_ratio=1", 1.0),
        ("data.train_ratio=none", None),
        ("training.anchor=none", "none"),
        ("enhancement.weights=[1, 0.5]", (1.0, 0.5)),
        ("pairwise=true", True),
        ("training={epochs=3}", 3),
    ],
)
def test_a_set_value_is_toml_and_a_bare_word_text(words: str, value: object) -> None:
    (one,) = from_words(words)
    assert (one.value, type(one.value)) == (value, type(value))
    assert one.where == f"--set {words}"


# What is refused


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[training]\nepocs = 3\n", r"training\.epocs: unknown key 'epocs'; choose one of: .*Did you mean 'epochs'\?"),
        ("engin = 3\n", r"engin: unknown key 'engin'; choose one of: .*Did you mean 'engine'\?"),
        ("[trainin]\nepochs = 3\n", r"trainin: unknown key 'trainin'; .*Did you mean 'training'\?"),
        ("epochs = 3\n", r"epochs: unknown key 'epochs'\. Did you mean training\.epochs\?"),
        ("training = 3\n", r"training: expected a table of settings, got 3"),
        ("random_state = '3'\n", r'random_state: expected a whole number, got "3"'),
        ("random_state = true\n", r"random_state: expected a whole number, got true"),
        ("random_state = 3.0\n", r"random_state: expected a whole number, got 3\.0"),
        (f"random_state = {2**63}\n", r"random_state: expected a whole number, got 9223372036854775808"),
        (f"random_state = 0x{'f' * 5000}\n", r"random_state: expected a whole number, got a number of too many digits"),
        ("random_state = -1\n", r"random_state: random_state must be"),
        ("pairwise = 1\n", r"pairwise: expected true or false, got 1"),
        ("duplicates = [1]\n", r"duplicates: expected a list, each part text, got \[1\]"),
        ("device = 'gpu'\n", r"device: unknown device 'gpu'; choose one of: auto, cpu, cuda"),
        ("engine = 'kgec'\n", r"engine: unknown engine 'kgec'; .*Did you mean 'kecg'\?"),
        ("engine = 'multiea+kecg'\n", r"engine: engine 'multiea\+kecg' cannot be"),
        ("[data]\ntrain_ratio = 1.5\n", r"data\.train_ratio: train_ratio must be between 0 and 1, got 1\.5"),
        ("[data]\ntrain_ratio = nan\n", r"data\.train_ratio: train_ratio must be between"),
        ("[data]\nlenient = 'yes'\n", r'data\.lenient: expected true or false, got "yes"'),
        ("[data]\nsource = 3\n", r"data\.source: expected a list, each part text, got 3"),
        ("[enhancement]\nmode = 'sharpend'\n", r"enhancement\.mode: unknown enhancement 'sharpend'; .*'sharpened'\?"),
        ("[enhancement]\nmode = 'profile'\ncandidates = 9\n", r"enhancement\.candidates: enhancement 'profile' needs"),
        (
            "[enhancement]\ncandidates = 'all'\n",
            r'enhancement\.candidates: expected a whole number or "none", got "all"',
        ),
        ("[enhancement]\nsweeps = 9\ntemperature = 0\nmode = 'none'\n", r"enhancement\.temperature: temperature must"),
        ("[enhancement]\nsweeps = 0\ntemperature = 0\n", r"enhancement\.sweeps: sweeps must be at least 1"),
        ("[propagation]\nview_weights = [1, 2]\n", r"propagation\.view_weights: .*must be four numbers"),
        (f"[propagation]\nown_weight = 1{'0' * 400}\n", r"propagation\.own_weight: expected a number, got 1000"),
        ("[propagation]\nhops = 1979-05-27\n", r"propagation\.hops: expected a whole number, got 1979-05-27"),
        ("[propagation]\nhops = {a = 1}\n", r"propagation\.hops: expected a whole number, got a table"),
        ("[bootstrap]\nrounds = 0\n", r"bootstrap\.rounds: .*must be at least 1"),
        (
            "engine = 'multiea'\n[training]\nanchor = 'a'\nepochs = 3\n",
            r"training\.anchor: an anchor KG changes nothing",
        ),
        (
            "engine = 'multiea'\n[training]\nlearning_rate = inf\n",
            r"training\.learning_rate: .* must be above 0, got inf",
        ),
        ("engine = \n", r"broken TOML: .*line 1"),
        ("engine = 'psr'\nengine = 'kecg'\n", r"broken TOML: .*line 2"),
        (f"random_state = {'1' * 5000}\n", "broken TOML"),
        (f"duplicates = {'[' * 5000}\n", "broken TOML"),
        (b"engine = '\xff'\n", r"not UTF-8; expected TOML"),
    ],
    ids=lambda part: part[:40] if isinstance(part, str) else "bytes",
)
def test_an_error_in_a_file_is_named_with_its_place(tmp_path: Path, text: str | bytes, said: str) -> None:
    assert re.match(said, refused_file(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[training]\nepochs = 3\n", "training.epochs changes nothing with --engine propagation; leave it out, or use"),
        (
            "fusion_weight = 0.5\n",
            "fusion_weight changes nothing with --engine propagation; leave it out, or use propag",
        ),
        (
            "engine = 'multiea'\n[bootstrap]\npool = 'none'\n",
            "bootstrap.pool changes nothing with --engine multiea; leave",
        ),
        (
            "engine = 'psr'\n[propagation]\nhops = 1\n",
            "propagation.hops changes nothing with --engine psr; leave it out",
        ),
        ("pairwise = true\n", "pairwise changes nothing with --engine propagation; leave it out, or use an encoder"),
    ],
)
def test_what_the_engine_does_not_use_is_refused(tmp_path: Path, text: str, said: str) -> None:
    assert refused_file(tmp_path, text).startswith(said)
    assert "changes nothing with --engine kecg" in refused_file(tmp_path, "[propagation]\nhops=1\n", "--engine", "kecg")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("training.epocs=3", "unknown key 'epocs'; choose one of: strategy, anchor"),
        ("epochs=3", "unknown key 'epochs'. Did you mean training.epochs?"),
        ("propagtion.hops=3", "unknown key 'propagtion.hops'. Did you mean propagation.hops?"),
        ("propagtion.steps=3", "unknown table 'propagtion'; choose one of: data, enhancement, propagation"),
        ("random_state=many", 'expected a whole number, got "many"'),
        ("random_state=3\nengine='psr'", "expected a whole number, got"),
        ("enhancement.weights=[1, 2", 'expected a list, each part a number, got "[1, 2"'),
        ("random_state", "expected a key and a value, such as training.epochs=50"),
        ("random_state=", "expected a key and a value"),
        ("=3", "expected a key and a value"),
        ("data.name=mine", "data.name is told by a run, not set; leave it out"),
        ("data={name='mine'}", "data.name is told by a run, not set; leave it out"),
        ("bootstrap.pool=some", "unknown bootstrap 'some'; choose one of: all, test, none"),
    ],
)
def test_an_error_in_a_set_value_names_the_option(tmp_path: Path, words: str, said: str) -> None:
    message = refused("align", "world", "--out", str(tmp_path / "run"), "--set", words)
    assert message.startswith(f"--set {' '.join(words.split())}: {said}")
    assert not (tmp_path / "run").exists()


def test_a_set_value_the_engine_does_not_use_is_refused(tmp_path: Path) -> None:
    message = refused("align", "world", "--out", str(tmp_path / "run"), "--set", "training.epochs=3")
    assert message == (
        "--set training.epochs=3 changes nothing with --engine propagation; leave it out, or use propagation+multiea"
    )


@pytest.mark.parametrize("words", [["multiea", "training.dimensions"], ["propagation", "propagation.columns"]])
def test_a_number_no_machine_has_room_for_is_an_error_like_any_other(
    words: list[str], data: Path, tmp_path: Path
) -> None:
    engine, key = words
    said = refused("align", str(data), "--engine", engine, "--set", f"{key}={10**18}", "--out", str(tmp_path / "run"))
    assert said.startswith("out of memory; lower training.dimensions")
    assert not list(tmp_path.iterdir())


def test_errors_come_as_json_too(tmp_path: Path) -> None:
    for words in (["align", "--config", "nowhere.toml", "--out", str(tmp_path / "run")], ["config", "show", "nowhere"]):
        code, output, error = multiea_says(*words, "--json")
        assert code == 2
        assert list(json.loads(output)) == ["error"]
        assert "cannot be read: No such file" in error
        assert "multiea config init" in error


def test_without_a_data_set_there_is_nothing_to_align(tmp_path: Path) -> None:
    assert "no data set was named; give one as DATASET" in refused("align", "--out", str(tmp_path / "run"))


# multiea config


@pytest.mark.parametrize("engine", engine_names())
def test_what_init_writes_changes_nothing(engine: str, tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    assert multiea_says("config", "init", "--engine", engine, "--out", str(path))[0] == 0
    assert Settings.read(path) == Settings.usual(engine)
    text = path.read_text(encoding="utf-8")
    top, *tables = re.split(r"^#?\[(\w+)\]$", text, flags=re.MULTILINE)
    for table, part in [("", top), *zip(tables[::2], tables[1::2], strict=True)]:
        written = re.findall(r"^# .+\n#?(\w+) = .+$", part, flags=re.MULTILINE)
        assert [f"{table}.{name}".lstrip(".") for name in written] == [
            key for key in FIELDS.keys if key.rpartition(".")[0] == table and key != TOLD
        ]
    no_settings = {name for name in unused_settings(engine) if re.search(rf"^\[?{name}", text, flags=re.MULTILINE)}
    assert not no_settings


def test_what_init_writes_aligns_as_usual(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, output, _ = multiea_says("config", "init", "--json")
    assert (code, json.loads(output)) == (0, {"out": "multiea.toml", "engine": "propagation"})
    aligned(str(data), "--config", "multiea.toml", "--out", "with")
    aligned(str(data), "--out", "without")
    assert Path("with/config.toml").read_text() == Path("without/config.toml").read_text()
    assert Path("with/groups.parquet").read_bytes() == Path("without/groups.parquet").read_bytes()


def test_init_replaces_nothing_unless_forced(tmp_path: Path) -> None:
    write_files(tmp_path, {"my.toml": "precious"})
    assert "exists" in refused("config", "init", "--out", str(tmp_path / "my.toml"))
    assert "unknown engine 'x'" in refused(
        "config", "init", "--out", str(tmp_path / "my.toml"), "--engine", "x", "--force"
    )
    assert (tmp_path / "my.toml").read_text(encoding="utf-8") == "precious"
    assert multiea_says("config", "init", "--out", str(tmp_path / "my.toml"), "--force")[0] == 0
    assert "precious" not in (tmp_path / "my.toml").read_text(encoding="utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["my.toml"]


def test_show_tells_what_is_in_force(data: Path, tmp_path: Path) -> None:
    write_files(tmp_path, {"my.toml": 'engine = "psr"\n[enhancement]\nsweeps = 3\n'})
    code, output, _ = multiea_says("config", "show", str(tmp_path / "my.toml"))
    shown = tomllib.loads(output)
    assert code == 0
    assert (shown["enhancement"]["sweeps"], shown["training"]["strategy"], shown["pairwise"]) == (3, "own", False)
    assert not {"propagation", "bootstrap", "fusion_weight"} & set(shown)
    write_files(tmp_path, {"shown.toml": output})
    assert Settings.read(tmp_path / "shown.toml") == Settings.read(tmp_path / "my.toml")
    aligned(str(data), "--out", str(tmp_path / "run"), "--set", "enhancement.candidates=none")
    answer = json.loads(multiea_says("config", "show", str(tmp_path / "run"), "--json")[1])
    given = {name: value for name, value in answer["data"].items() if value is not None}
    assert given == {"name": data.name, "source": [str(data)], "lenient": False}
    assert (answer["enhancement"]["candidates"], answer["propagation"]["dimensions"]) == ("none", None)


# One place of truth


def test_every_setting_is_explained_in_one_line() -> None:
    for settings in (Settings, *FIELDS.tables.values()):
        names = {part.name for part in fields(settings)} - (set(FIELDS.tables) if settings is Settings else set())
        assert set(explanations(settings)) == names
        for about in explanations(settings).values():
            assert about.endswith(".")
            assert "\n" not in about


def test_settings_are_those_of_align_with_its_defaults(tmp_path: Path) -> None:
    parameters = inspect.signature(multiea.align).parameters
    usual = Settings.usual().arguments()
    assert set(usual) == set(parameters) - {"task"}
    for name in set(usual) - set(FIELDS.tables):
        assert usual[name] == parameters[name].default


def test_every_option_of_align_stands_for_a_setting_with_the_same_default() -> None:
    (align,) = (command for command in app.registered_commands if command.callback.__name__ == "align")
    parameters = inspect.signature(align.callback).parameters
    apart = {"context", "config", "settings_words", "out_folder", "force", "as_json", "show_progress"}
    assert set(OPTIONS) == set(parameters) - apart
    usual = Settings.usual()
    for name, key in OPTIONS.items():
        value = usual
        for part in key.split("."):
            value = getattr(value, part)
        assert parameters[name].default in (value, None)


def test_settings_given_in_python_name_the_key() -> None:
    with pytest.raises(SettingError, match=r"here: epochs must be at least 1, got 0"):
        Settings.of([Given("engine", "kecg", "there"), Given("training.epochs", 0, "here")])
    with pytest.raises(MultiEAError, match="cannot be read"):
        Settings.read("nowhere.toml")
