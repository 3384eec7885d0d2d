"""What the API of metering takes and shows. Amounts are base units x milliseconds, money exact millionths."""

from rest_framework import serializers

from metering.selectors.windows import KEYS
from portal.lib.rest import inputs
from portal.lib.rest.outputs import ClassUse, Moment, Shown, page_of
from portal.lib.rest.paging import PageQuery


class PeriodQuery(inputs.Input):
    """Which period, in the portal's time zone."""

    period = inputs.choice(KEYS, help_text="This month unless said.")


class ProjectsQuery(PageQuery):
    """Which period, and which part of the list."""

    period = inputs.choice(KEYS, help_text="This month unless said.")


class Usage(Shown):
    """Use in [start, end): entered in the ledger, and beside it what is not entered yet and still grows."""

    start = Moment()
    end = Moment()
    entered = ClassUse(many=True)
    open = ClassUse(many=True)


class ProjectUsage(Shown):
    """Use of one project in the period. One that used nothing has empty lists."""

    id = serializers.UUIDField()
    slug = serializers.CharField()
    name = serializers.CharField()
    entered = ClassUse(many=True)
    open = ClassUse(many=True)


ProjectUsagePage = page_of(ProjectUsage)
