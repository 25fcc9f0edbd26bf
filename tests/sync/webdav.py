"""Reads the tree of files over WebDAV."""

import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit

import niquests

REQUEST = """<?xml version="1.0"?><d:propfind xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns"><d:prop><d:resourcetype/>
<d:getetag/><d:getcontentlength/><d:getlastmodified/><oc:fileid/></d:prop></d:propfind>"""
SPACES = {"d": "DAV:", "oc": "http://owncloud.org/ns"}


@dataclass(frozen=True)
class Entry:
    """A file or a folder."""

    is_folder: bool
    etag: str
    file_id: str
    size: int


class Tree:
    """The files below a URL."""

    def __init__(self, url: str, user: str, password: str):
        self._url, self._auth = url, (user, password)

    def etag(self) -> str:
        """The etag of the root folder, which changes with anything below it."""
        return self._propfind("", depth=0)[""].etag

    def entries(self, folder: str = "") -> dict[str, Entry]:
        """The files and folders below a folder, by path."""
        found = self._propfind(folder, depth=1)
        found.pop(folder)
        for path in [path for path, entry in found.items() if entry.is_folder]:
            found |= self.entries(path)
        return found

    def files(self) -> dict[str, Entry]:
        """The files alone."""
        return {path: entry for path, entry in self.entries().items() if not entry.is_folder}

    def _propfind(self, path: str, depth: int) -> dict[str, Entry]:
        headers = {"Depth": str(depth), "Content-Type": "application/xml"}
        url = self._url + quote(path)
        answer = niquests.request("PROPFIND", url, data=REQUEST, headers=headers, auth=self._auth, timeout=60)
        assert answer.status_code == 207, f"PROPFIND {url}: {answer.status_code} {answer.text}"
        responses = ElementTree.fromstring(answer.content).findall("d:response", SPACES)
        return dict(self._entry(response) for response in responses)

    def _entry(self, response: ElementTree.Element) -> tuple[str, Entry]:
        href = unquote(urlsplit(response.findtext("d:href", namespaces=SPACES)).path)
        path = href.removeprefix(unquote(urlsplit(self._url).path)).rstrip("/")
        known = response.find("d:propstat/d:prop", SPACES)
        text = lambda name: known.findtext(name, "", SPACES)
        is_folder = known.find("d:resourcetype/d:collection", SPACES) is not None
        size = int(text("d:getcontentlength") or 0)
        return path, Entry(is_folder, text("d:getetag"), text("oc:fileid"), size)
