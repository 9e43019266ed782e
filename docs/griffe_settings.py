"""For the API reference: the explanation of a setting becomes its docstring, and examples (>>>) become code blocks."""

from __future__ import annotations

import ast
import re
from typing import Any

import griffe

EXAMPLE = re.compile(r"(?:^>>> .*\n?(?:^[^\s>].*\n?)*)+", flags=re.MULTILINE)


class Settings(griffe.Extension):
    """Reads `name: type = setting(default, about, option=...)` as the code itself does."""

    def on_attribute(self, *, attr: griffe.Attribute, **kwargs: Any) -> None:
        """Uses the explanation as docstring and the default as value."""
        call = attr.value
        if isinstance(call, griffe.ExprCall) and str(call.function) == "setting":
            default, about, *_ = call.arguments
            attr.docstring = griffe.Docstring(ast.literal_eval(str(about)), parent=attr)
            attr.value = default

    def on_object(self, *, obj: griffe.Object, **kwargs: Any) -> None:
        """Puts examples into fenced code blocks, without the comments for doctest."""
        if obj.docstring is not None and ">>> " in obj.docstring.value:
            fenced = EXAMPLE.sub(lambda found: f"```pycon\n{found[0].rstrip()}\n```\n", obj.docstring.value)
            obj.docstring.value = re.sub(r"\s+# doctest: .*", "", fenced)
