"""What the documents say, taken from their text."""

import re
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"


def section(document: str, heading: str) -> str:
    """The text below a heading, up to the next heading of the same level or of a higher one."""
    text = (DOCS / document).read_text(encoding="utf-8")
    [found] = re.findall(rf"^(#+) {re.escape(heading)}\n(.*?)(?=^#+ |\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1]


def block(document: str, heading: str, language: str, words: str = "") -> str:
    """The code block in this language that contains these words."""
    blocks = re.findall(rf"^```{language}\n(.*?)^```", section(document, heading), re.MULTILINE | re.DOTALL)
    [found] = [block for block in blocks if words in block]
    return found


def commands(document: str, heading: str, words: str = "") -> list[str]:
    """The commands in such a block of a section, without their comments."""
    lines = block(document, heading, "sh", words).splitlines()
    return [re.sub(r"\s+# .*", "", line) for line in lines]


def span(document: str, heading: str, words: str) -> str:
    """The command in a sentence of a section that contains these words."""
    [found] = [span for span in re.findall(r"`([^`\n]+)`", section(document, heading)) if words in span]
    return found
