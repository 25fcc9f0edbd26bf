"""Calls every tool and reads the photo app, as `../node/lib/tools.mjs` does."""

import asyncio
import base64
import json
import re
import uuid
from urllib.parse import urlsplit

from photo_library import check_rendition

TOOLS = [
    "get_info",
    "list_images",
    "search_images",
    "get_image",
    "view_images",
    "show_images",
    "list_albums",
    "create_album",
    "update_album",
    "update_images",
    "undo_changes",
]
#: The photo app and its MIME type.
GALLERY = "ui://photo-library/gallery.html"
APP_PAGE = "text/html;profile=mcp-app"


def is_structured(url: str) -> bool:
    return url.endswith("/v2")


def check_tool_list(tools, url: str):
    """Checks the result of `tools/list` for a resource with albums."""
    assert [tool.name for tool in tools] == TOOLS
    for tool in tools:
        assert tool.input_schema["type"] == "object", tool.name
        assert (tool.output_schema is not None) == is_structured(url), tool.name
        assert tool.annotations.read_only_hint is not None, tool.name
    [shows] = [tool for tool in tools if tool.name == "show_images"]
    assert shows.meta["ui"]["resourceUri"] == GALLERY, shows


def check_gallery(resources, contents, url: str):
    """Checks the results of `resources/list` and of `resources/read` for the photo app."""
    [entry] = [resource for resource in resources if str(resource.uri) == GALLERY]
    assert entry.mime_type == APP_PAGE, entry
    [page] = contents
    assert (str(page.uri), page.mime_type) == (GALLERY, APP_PAGE), page
    assert page.text.lower().startswith("<!doctype html>"), page.text[:100]
    # The app may load photos from the service.
    where = urlsplit(url)
    assert f"{where.scheme}://{where.netloc}" in page.meta["ui"]["csp"]["resourceDomains"], page.meta


async def use_prompts(prompts, get):
    """Checks the prompts. `get(name, arguments)` returns the client's result of `prompts/get`."""
    names = [prompt.name for prompt in prompts]
    assert names == ["find_photo", "make_trip_album", "tidy_last_month", "describe_photos"]
    for prompt in prompts:
        assert prompt.title and prompt.description, prompt
        given = {argument.name: "Lisbon" for argument in prompt.arguments or []}
        [message] = (await get(prompt.name, given)).messages
        assert message.role == "user" and "show_images" in message.content.text, message


async def use_tools(call, url: str) -> int:
    """Calls each tool, and some with wrong arguments. Returns the number of successful calls.

    `call(name, arguments)` returns the client's result of `tools/call`.
    """
    worked = 0

    async def use(name, **arguments):
        """Makes a call that must succeed and returns its payload."""
        return (await use_all(name, **arguments))[0]

    async def use_all(name, **arguments):
        """The same, with all content blocks."""
        nonlocal worked
        result = await call(name, arguments)
        text = result.content[0].text
        assert not result.is_error, f"{name}: {text}"
        payload = json.loads(text)
        assert payload["source"] == "photo-library", text
        if is_structured(url):
            assert result.structured_content == payload, name
        else:
            # The display tool always has structured content, for the photo app.
            assert (result.structured_content is not None) == (name == "show_images"), name
        worked += 1
        return payload, result.content

    def ids(payload):
        return [image["id"] for image in payload["results"]]

    library = (await use("get_info"))["result"]
    assert library["totalImages"] >= 2 and library["syncEnabled"], library

    listed = await use("list_images", limit=2)
    newest, second = ids(listed)
    await asyncio.to_thread(check_rendition, listed["results"][0]["url"])

    image = (await use("get_image", id=newest))["result"]
    assert image["id"] == newest
    assert image["renditions"]
    for rendition_url in image["renditions"].values():
        await asyncio.to_thread(check_rendition, rendition_url)

    # One of the sample photos was taken in Rome.
    nearby = await use("search_images", latitude=41.9, longitude=12.5, radiusMeters=20_000)
    assert len(nearby["results"]) == 1, nearby

    assert ids(await use("show_images", imageIds=[second, newest])) == [second, newest]

    for arguments, count in [({}, 2), ({"sheet": True}, 1)]:
        payload, content = await use_all("view_images", imageIds=[second, newest], **arguments)
        assert [(image["id"], image["number"]) for image in payload["results"]] == [(second, 1), (newest, 2)]
        assert len(content) == 1 + count
        for picture in content[1:]:
            assert (picture.type, picture.mime_type) == ("image", "image/jpeg")
            jpeg = base64.b64decode(picture.data, validate=True)
            assert jpeg[:2] == b"\xff\xd8" and jpeg[-2:] == b"\xff\xd9"

    for name, arguments, message in [
        ("list_images", {"limit": 0}, "limit"),
        ("show_images", {"imageIds": [newest, "unknown"]}, "unknown"),
    ]:
        refused = await call(name, arguments)
        assert refused.is_error and re.search(message, refused.content[0].text), refused

    title = f"Album {uuid.uuid4()}"
    made = (await use("create_album", title=title, imageIds=[newest]))["result"]
    assert (made["title"], made["imageCount"]) == (title, 1)
    changed = (await use("update_album", albumId=made["id"], addImageIds=[second]))["result"]
    assert (changed["id"], changed["imageCount"]) == (made["id"], 2)
    albums = (await use("list_albums", limit=100))["results"]
    assert (made["id"], 2) in [(album["id"], album["imageCount"]) for album in albums], title
    assert sorted(ids(await use("search_images", albumId=made["id"]))) == sorted([newest, second])

    both = {"imageIds": [newest, second], "rating": 5, "keywords": [title]}
    assert (await use("update_images", **both, dryRun=True))["result"]["changed"] == 2
    updated = (await use("update_images", **both))["result"]
    assert updated["changed"] == 2, updated
    assert len((await use("list_images", keyword=title))["results"]) == 2
    assert (await use("undo_changes", changeId=updated["changeId"]))["result"]["undone"] == 2
    return worked
