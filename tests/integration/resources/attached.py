"""What the tests of attached clusters share: what is given, and a cluster that answers as the shipped roles would."""

from html.parser import HTMLParser

from django.db import connection

from resources.attaching import ConnectionGiven
from resources.drivers.kubernetes.connection import Right
from resources.drivers.kubernetes.rights import needs
from resources.models import Cluster
from resources.services.attach_kubernetes import attach_kubernetes
from tests.builders import NOW
from tests.unit.drivers.kubernetes_pki import SERVER, issued

CANARY = "canary-0123456789-abcdefghij"
GIVEN = ConnectionGiven(
    server=SERVER, authority=issued()[0], tokens={Right.OBSERVER: CANARY, Right.RUNNER: f"{CANARY}-runner"}
)
FORM = {"key": "east", "name": "East", "location": "Hall 2", "maintainer": "Rosa Adeyemi"}


def attach(actor=None, given=GIVEN, key="east") -> Cluster:
    return attach_kubernetes(actor=actor, key=key, name="East", given=given, now=NOW, note="A new hall.")


def shipped(*without: str):
    """Answers as a cluster on which the shipped manifests were applied, but for these."""
    allowed = {one.key: one.attributes for right in Right for one in needs(right, "armillary-jobs")}
    kept = [attributes for key, attributes in allowed.items() if key not in without]
    return lambda _right, attributes: dict(attributes) in kept


class Hidden(HTMLParser):
    """What a page's form sends without being seen."""

    def __init__(self) -> None:
        super().__init__()
        self.found: dict[str, str] = {}

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        if tag == "input" and given.get("type") == "hidden" and given.get("name"):
            self.found[given["name"]] = given.get("value") or ""


def hidden(page: str) -> dict[str, str]:
    reader = Hidden()
    reader.feed(page)
    return reader.found


def database_text() -> str:
    """Every row of every table."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public'")
        tables = [name for (name,) in cursor.fetchall()]
        text = []
        for table in tables:
            cursor.execute(f"SELECT t::text FROM {table} t")
            text += [row for (row,) in cursor.fetchall()]
    return "\n".join(text)
