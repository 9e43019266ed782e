"""Options of commands that are made from the settings: one per setting that names an option."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterator
from functools import cache
from types import NoneType
from typing import Annotated, Any, TypeVar, get_args, get_origin

import typer

from multiea.settings.engines import PROPAGATION
from multiea.settings.fields import explanations
from multiea.settings.parsing import GivenValue, toml_value
from multiea.settings.tree import SCHEMA, AlignSettings, option_keys

ROLE_OPTIONS = ("--names", "--attributes", "--ignore")
Function = TypeVar("Function", bound=Callable[..., Any])


def with_settings_options(only: Collection[str] = ()) -> Callable[[Function], Function]:
    """Adds the options of settings to the signature of a command; only: these options, all by default.

    Their values reach the command as keyword arguments; `given_options` reads those that a user wrote.
    """

    def decorate(function: Function) -> Function:
        signature = inspect.signature(function, eval_str=True)
        own = [part for part in signature.parameters.values() if part.kind is not inspect.Parameter.VAR_KEYWORD]
        added = [_parameter(option, key) for option, key in option_keys().items() if not only or option in only]
        position = next((at for at, part in enumerate(own) if part.name == "force"), len(own))
        function.__signature__ = signature.replace(  # type: ignore[attr-defined]
            parameters=[*own[:position], *added, *own[position:]]
        )
        return function

    return decorate


def given_options(context: typer.Context) -> Iterator[GivenValue]:
    """The options of settings that a user wrote."""
    keys = option_keys()
    for parameter in context.command.params:
        source = context.get_parameter_source(str(parameter.name))
        if parameter.opts[0] in keys and source is not None and source.name == "COMMANDLINE":
            value = context.params[str(parameter.name)]
            yield GivenValue(
                keys[parameter.opts[0]], tuple(value) if isinstance(value, list) else value, parameter.opts[0]
            )


def _parameter(option: str, key: str) -> inspect.Parameter:
    hint = SCHEMA.keys[key]
    inner = get_args(hint)[0] if NoneType in get_args(hint) else hint
    is_list, is_flag = get_origin(inner) is tuple, inner is bool
    help_text = _help(key, is_list=is_list)
    annotation = list[str] | None if is_list else bool if is_flag else inner | None
    return inspect.Parameter(
        option.removeprefix("--").replace("-", "_"),
        inspect.Parameter.POSITIONAL_OR_KEYWORD,
        default=False if is_flag else None,
        annotation=Annotated[annotation, typer.Option(option, help=help_text, show_default=False)],
    )


@cache
def _defaults() -> AlignSettings:
    return AlignSettings.default(PROPAGATION)


def _help(key: str, *, is_list: bool) -> str:
    """The explanation of a setting, with its default where the text does not name one."""
    table, _, name = key.rpartition(".")
    about = explanations(SCHEMA.tables[table] if table else AlignSettings)[name]
    about += " May be given several times." if is_list else ""
    defaults = _defaults()
    value = getattr(getattr(defaults, table) if table else defaults, name)
    depends_on_engine = table == "training"
    if value is None or value is False or value == () or depends_on_engine:
        return about + (" By default that of the encoder." if depends_on_engine and value is not None else "")
    shown = ", ".join(value) if isinstance(value, tuple) else toml_value(value).strip(chr(34))
    return f"{about} Default: {shown}."
