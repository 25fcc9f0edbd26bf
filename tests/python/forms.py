"""Reads the forms of pages."""

from html.parser import HTMLParser


class FirstForm(HTMLParser):
    """The first form of a page: its fields with their values, and its buttons."""

    def __init__(self, html: str):
        super().__init__()
        self.method, self.action, self.fields, self.buttons = None, "", {}, []
        self._inside = self._passed = False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "form" and not self._passed:
            self._inside = True
            self.method, self.action = given.get("method", "get").lower(), given.get("action", "")
        elif self._inside and tag == "input" and "name" in given:
            self.fields[given["name"]] = given.get("value", "")
        elif self._inside and tag == "button":
            self.buttons.append((given.get("name"), given.get("value")))

    def handle_endtag(self, tag):
        if tag == "form" and self._inside:
            self._inside, self._passed = False, True
