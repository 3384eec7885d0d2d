"""Somebody who uses the portal over HTTP without a browser: for load, and for pages that may be away."""

import http.client
import re
import urllib.parse
import uuid
from dataclasses import dataclass, field
from urllib.parse import urlsplit

FORM = {"Content-Type": "application/x-www-form-urlencoded"}
JOB_PAGE = re.compile(r"/jobs/([0-9a-f-]{36})$")


@dataclass(frozen=True, slots=True)
class Answer:
    """Status, where it leads ("" nowhere), and the body."""

    status: int
    location: str
    text: str


@dataclass(slots=True)
class WebClient:
    """Cookies of one person. Every request has a connection of its own, so threads may share a client."""

    base_url: str
    time_out: float = 30.0
    cookies: dict[str, str] = field(default_factory=dict)

    def sign_in(self, user: str, password: str) -> None:
        """Through the form; raises AssertionError unless it worked."""
        self.get("/login")
        answer = self.post("/login", username=user, password=password)
        assert answer.status == 302, f"{answer.status}: {answer.text[-500:]}"

    def get(self, path: str) -> Answer:
        """A page. Raises OSError or HTTPException when nobody answers."""
        return self._request("GET", path, None)

    def post(self, path: str, **fields: str) -> Answer:
        """A form sent."""
        return self._request("POST", path, urllib.parse.urlencode(fields | self._csrf()))

    def submit(self, slug: str, *, key: str = "", **fields: str) -> str | None:
        """The key of the job, None when the portal did not take it. The same `key` is the same job."""
        answer = self.post(f"/templates/{slug}/new", key=key or uuid.uuid4().hex, **fields)
        found = JOB_PAGE.search(answer.location) if answer.status == 302 else None
        return found[1] if found else None

    def _csrf(self) -> dict[str, str]:
        return {"csrfmiddlewaretoken": self.cookies.get("csrftoken", "")}

    def _request(self, method: str, path: str, body: str | None) -> Answer:
        parts = urlsplit(self.base_url)
        connection = http.client.HTTPConnection(parts.hostname or "", parts.port, timeout=self.time_out)
        cookies = "; ".join(f"{name}={value}" for name, value in self.cookies.items())
        try:
            connection.request(method, path, body, {"Cookie": cookies} | (FORM if body is not None else {}))
            answer = connection.getresponse()
            text = answer.read().decode()
            for line in answer.headers.get_all("Set-Cookie") or ():
                name, _, value = line.partition(";")[0].partition("=")
                self.cookies[name] = value
            return Answer(answer.status, answer.headers.get("Location", ""), text)
        finally:
            connection.close()
