"""The commands that `docs/sync.md` shows, with real values in place of the examples."""

import re
from pathlib import Path

DOCUMENT = Path(__file__).parents[2] / "docs" / "sync.md"
EXAMPLE_URL = "https://photos.example.org"


def commands(program: str) -> list[str]:
    """The commands with this program in code blocks and in tables."""
    text = DOCUMENT.read_text(encoding="utf-8")
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = "\n".join(blocks).replace("\\\n", " ").splitlines()
    spans = re.findall(r"`([^`\n]+)`", re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL))
    return [line for line in lines + spans if line.startswith(f"{program} ")]


def with_values(command: str, **values: str) -> str:
    """The command with these values in place of the document's words."""
    for word, value in values.items():
        command = re.sub(rf"(?<![A-Za-z-]){word}(?![A-Za-z-])", value, command)
    return command
