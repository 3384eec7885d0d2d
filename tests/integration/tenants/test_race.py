"""Two administrators at once: the database decides, and one stays."""

import threading

import pytest
from django.db import connections

from portal.lib.errors import DomainError
from tenants.models import Membership, User
from tenants.roles import Role
from tenants.services.revoke_role import revoke_role
from tests import builders as make
from tests.builders import NOW


@pytest.mark.django_db(transaction=True)
def test_two_administrators_who_remove_each_other_at_once_leave_one():
    root = make.make_team("organisation")
    people = [make.make_user(name, (Role.PLATFORM_ADMIN, root)) for name in ("one", "two")]
    rows = [Membership.objects.get(user=person) for person in people]
    gate, ended = threading.Barrier(2), []

    def remove(actor: User, row: Membership) -> None:
        gate.wait()
        try:
            revoke_role(actor=actor, membership=row, now=NOW)
            ended.append("done")
        except DomainError as error:
            ended.append(error.reason)
        finally:
            connections.close_all()

    threads = [threading.Thread(target=remove, args=(people[i], rows[1 - i])) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert Membership.objects.filter(role="platform_admin").count() == 1
    # Refused by the rule itself, or because the other was quicker: before its first question, or between two of them.
    assert sorted(ended)[0] in ("LastAdministrator", "NotPermitted", "RoleAboveOwn") and "done" in ended
