"""For the API reference: the explanation of a setting becomes its docstring, and examples (>>>) become code blocks."""

from __future__ import annotations

import re
from importlib import import_module
from typing import Any

import griffe

from multiea.settings.fields import explanations

EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:^[^\s>].*\n?)*)+", flags=re.MULTILINE)


class Settings(griffe.Extension):
    """Reads `name: type = setting(default, about, option=...)` as the code itself does."""

    def on_attribute(self, *, attr: griffe.Attribute, **kwargs: Any) -> None:
        """Uses the explanation as docstring and the default as value."""
        call = attr.value
        if isinstance(call, griffe.ExprCall) and str(call.function) == "setting":
            default, *_ = call.arguments
            assert attr.parent is not None
            kind = getattr(import_module(attr.module.path), attr.parent.name)
            attr.docstring = griffe.Docstring(explanations(kind)[attr.name], parent=attr)
            attr.value = default

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Puts examples into fenced code blocks, without the comments for doctest."""
        if obj.docstring is not None and ">>> " in obj.docstring.value:
            fenced = EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", obj.docstring.value)
            obj.docstring.value = re.sub(r"\s+# doctest: .*", "", fenced)
