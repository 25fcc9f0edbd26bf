"""Reads the forms of pages."""

from html.parser import HTMLParser


class Form(HTMLParser):
    """The first form of a page, or its first one with this action: fields with their values, every box ticked, and buttons."""

    def __init__(self, html: str, action: str | None = None):
        super().__init__()
        self._wanted = action
        self.method, self.action, self.fields, self.buttons = None, "", {}, []
        self._id, self._inside, self._passed = None, False, False
        #: The fields that stand outside a form and name it, by the form's id.
        self._outside = {}
        self.feed(html)
        self.fields |= self._outside.get(self._id, {})

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "form" and not self._passed and self._wanted in (None, given.get("action", "")):
            self._inside, self._id = True, given.get("id")
            self.method, self.action = given.get("method", "get").lower(), given.get("action", "")
        elif tag == "input" and "name" in given and "form" in given:
            self._outside.setdefault(given["form"], {})[given["name"]] = given.get("value", "")
        elif self._inside and tag == "input" and "name" in given:
            self.fields[given["name"]] = given.get("value", "")
        elif self._inside and tag == "button":
            self.buttons.append((given.get("name"), given.get("value")))

    def handle_endtag(self, tag):
        if tag == "form" and self._inside:
            self._inside, self._passed = False, True
