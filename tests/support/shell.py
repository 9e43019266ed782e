"""Blocks of bash in the documentation, run as a reader would."""

from __future__ import annotations

import re
import shlex
import subprocess

from typer.testing import CliRunner

from multiea.cli.main import app


def printed_by_shell(text: str) -> str:
    """Runs a block of bash: `multiea` in this process, which is faster, all other lines in bash."""
    output = ""
    for part in re.split(r"^(multiea (?:.*\\\n)*.*\n)", text, flags=re.MULTILINE):
        if part.startswith("multiea "):
            result = CliRunner().invoke(app, shlex.split(part, comments=True)[1:], catch_exceptions=False)
            assert result.exit_code == 0, f"{part}{result.output}"
            output += result.stdout
        elif part.strip():
            output += subprocess.run(["bash", "-ec", part], check=True, capture_output=True, text=True).stdout
    return output
