"""The service under test, and checks of its results."""

import json
import os
from urllib.parse import urljoin

import httpx2

from person import TIMEOUT_S

#: The only address that a client gets.
MCP_URL = os.environ["MCP_URL"]
#: The same tools, each with an output schema.
STRUCTURED_URL = urljoin(MCP_URL, "v2")


def check_photos(text: str):
    """Checks the result of the tool `list_images`: it has photos, and the first can be loaded."""
    payload = json.loads(text)
    assert payload["source"] == "photo-library", text
    check_rendition(payload["results"][0]["url"])


def check_rendition(url: str):
    """Checks that a signed URL returns a photo without credentials."""
    photo = httpx2.get(url, timeout=TIMEOUT_S)
    assert (photo.status_code, photo.headers["content-type"]) == (200, "image/webp"), photo
