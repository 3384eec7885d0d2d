"""The steps of a change as a browser without a script takes them."""

import re
from html import unescape
from typing import Any

from django.http import HttpResponse
from django.test import Client

_HIDDEN = re.compile(r'<input type="hidden" name="([^"]+)"(?: value="([^"]*)")?')


def hidden(response: HttpResponse) -> dict[str, str]:
    """The hidden fields of the page's form."""
    page = response.content.decode()
    form = page[page.index('<form method="post" class="panel') :]
    return {name: unescape(value) for name, value in _HIDDEN.findall(form) if name != "csrfmiddlewaretoken"}


def preview(client: Client, path: str, **values: Any) -> HttpResponse:
    """Fill in the form as it stands and look at the preview."""
    start = hidden(client.get(path))
    return client.post(path, {**start, **values, "step": "preview"})


def save(client: Client, path: str, page: HttpResponse, reason: str = "Because it is tested") -> HttpResponse:
    """Press the button of a preview, with a reason."""
    return client.post(path, {**hidden(page), "reason": reason, "step": "save"})


def change(client: Client, path: str, *, reason: str = "Because it is tested", **values: Any) -> HttpResponse:
    """All three steps; the answer of the last, or of the one that did not lead on."""
    page = preview(client, path, **values)
    if page.status_code != 200 or b'value="save"' not in page.content:
        return page
    return save(client, path, page, reason)
