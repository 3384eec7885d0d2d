"""Two workers fan out at once: each person is told once."""

import threading

import pytest
from django.db import connections

from tenants.models import Notice, Outbox
from tenants.notify.events import Event
from tenants.notify.recipients import in_roles
from tenants.roles import Role
from tenants.services.announce import announce
from tenants.services.fan_out import fan_out
from tests.builders import NOW
from tests.cast import make_cast


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_tell_each_person_once():
    people_of = make_cast()
    Outbox.objects.all().delete()
    for number in range(25):
        rule = in_roles([Role.LEAD, Role.OWNER, Role.MEMBER], project=people_of.alpha.pk)
        announce(event=Event.JOB_NEVER, subject=people_of.alpha, facts={}, recipients=rule, once=str(number), now=NOW)
    barrier, done = threading.Barrier(2), []

    def work() -> None:
        try:
            barrier.wait(10)
            done.append(fan_out(now=NOW))
        finally:
            connections.close_all()

    workers = [threading.Thread(target=work) for _ in range(2)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
    assert sum(done) == 25 and not Outbox.objects.filter(fanned_at__isnull=True).exists()
    assert Notice.objects.count() == 75
