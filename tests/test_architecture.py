"""The shape of the source: sizes of modules and functions, imports inside functions, the layers."""

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.places import PROJECT

SOURCE = PROJECT / "src" / "multiea"
MODULES = sorted(SOURCE.rglob("*.py"))
MAX_MODULE_LINES, MAX_FUNCTION_LINES, MAX_PARAMETERS = 300, 60, 8


def functions(path: Path) -> Iterator[ast.FunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef):
            yield node


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_modules_and_functions_stay_small(path: Path) -> None:
    assert path.read_text(encoding="utf-8").count("\n") <= MAX_MODULE_LINES
    for function in functions(path):
        lines = (function.end_lineno or function.lineno) - function.lineno + 1
        assert lines <= MAX_FUNCTION_LINES, f"{function.name} has {lines} lines"
        parameters = [part.arg for part in (*function.args.args, *function.args.kwonlyargs) if part.arg != "self"]
        is_command = path.parent.name == "cli"  # the parameters of a command are its options
        assert is_command or len(parameters) <= MAX_PARAMETERS, f"{function.name} takes {len(parameters)} parameters"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_an_import_inside_a_function_says_which_heavy_library_it_defers(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    for function in functions(path):
        imports = [node for node in ast.walk(function) if isinstance(node, ast.Import | ast.ImportFrom)]
        block_end = -1
        for node in sorted(imports, key=lambda node: node.lineno):
            if node.lineno > block_end + 1:  # the first line of a block speaks for all of it
                assert "# deferred" in lines[node.lineno - 1], f"{function.name}, line {node.lineno}"
            block_end = node.end_lineno or node.lineno


def test_every_package_has_its_place_in_the_layers() -> None:
    contract = tomllib.loads((PROJECT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    layers = [name.strip() for layer in contract["contracts"][0]["layers"] for name in layer.split("|")]
    packages = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").is_file()}
    modules = {path.stem for path in SOURCE.glob("*.py")} - {"__init__", "__main__"}
    assert set(layers) == packages | modules
    assert "lint-imports" in (PROJECT / "scripts" / "test").read_text(encoding="utf-8")


def test_tests_mirror_the_source() -> None:
    packages = {path.name for path in SOURCE.iterdir() if (path / "__init__.py").is_file()}
    folders = {path.name for path in (PROJECT / "tests").iterdir() if path.is_dir() and any(path.glob("test_*.py"))}
    assert packages <= folders
    assert folders - packages == {"benchmarks", "documentation"}
