"""The facts behind the checklists. Reads only; about twenty queries, each a count."""

from datetime import datetime

from django.conf import settings
from django.db.models import Count, Q

from jobs.models import Attempt, JobTemplate, ReleaseRecord
from jobs.states import JobState
from metering.models import LedgerEntry
from portal.web.setup.checklist import ENOUGH, SetupFacts
from resources.models import Cluster, DeviceGroup, Node, Pool, ResourceClass, Runtime
from resources.selectors.freshness import STALE_AFTER
from resources.selectors.rates import rates_in_force
from tenants.models import Grant, Membership, Project, QuotaCell, Team
from tenants.roles import Role


def setup_facts(now: datetime) -> SetupFacts:
    """What is there now."""
    opened = len(settings.CLUSTER_NETWORKS)
    return SetupFacts(opened_networks=opened, **_clusters(now), **_fleet(), **_work(now), **_tenancy(), **_money(now))


def _clusters(now: datetime) -> dict[str, int]:
    real = Q(simulated=False) & ~Q(driver="simulated")
    silent = Q(last_seen_at__isnull=True) | Q(last_seen_at__lt=now - STALE_AFTER)
    return Cluster.objects.filter(state=Cluster.State.ATTACHED).aggregate(
        clusters=Count("pk", filter=real),
        simulated_clusters=Count("pk", filter=~real),
        silent_clusters=Count("pk", filter=silent),
        isolated_clusters=Count("pk", filter=real & Q(isolation=True)),
    )


def _fleet() -> dict[str, int]:
    nodes = Node.objects.aggregate(nodes=Count("pk"), nodes_with_topology=Count("pk", filter=~Q(topology=[])))
    groups = DeviceGroup.objects.aggregate(
        device_groups=Count("pk"), unrecognised_groups=Count("pk", filter=Q(resource_class__isnull=True))
    )
    pools = Pool.objects.aggregate(
        pools=Count("pk", distinct=True),
        pools_with_nodes=Count("pk", filter=Q(nodes__isnull=False), distinct=True),
        pools_without_maintainer=Count("pk", filter=Q(maintainer=""), distinct=True),
        lending_pools=Count("pk", filter=Q(borrowing=True), distinct=True),
    )
    return {**nodes, **groups, **pools, "runtimes": Runtime.objects.count()}


def _work(now: datetime) -> dict[str, int]:
    real = Attempt.objects.filter(job__state=JobState.SUCCEEDED, cluster__simulated=False)
    real = real.exclude(cluster__driver="simulated")
    made_up = Attempt.objects.filter(job__state=JobState.SUCCEEDED).filter(
        Q(cluster__simulated=True) | Q(cluster__driver="simulated")
    )
    served = Attempt.objects.filter(job__task_type="inference", ready_at__isnull=False, cluster__simulated=False)
    released = ReleaseRecord.objects.filter(
        completed_at__isnull=False, allocation__attempt__cluster__simulated=False
    ).exclude(allocation__attempt__cluster__driver="simulated")
    return {
        "templates": JobTemplate.objects.filter(retired_at__isnull=True, versions__isnull=False).distinct().count(),
        "succeeded": real.order_by()[: ENOUGH + 1].count(),
        "succeeded_simulated": made_up.order_by()[: ENOUGH + 1].count(),
        "training_succeeded": real.filter(job__task_type="training").order_by()[: ENOUGH + 1].count(),
        "services_ran": served.exclude(cluster__driver="simulated").order_by()[: ENOUGH + 1].count(),
        "releases": released.order_by()[: ENOUGH + 1].count(),
        "grants": Grant.objects.filter(Q(valid_to__isnull=True) | Q(valid_to__gt=now), valid_from__lte=now).count(),
    }


def _tenancy() -> dict[str, int]:
    people = Membership.objects.filter(user__is_active=True).aggregate(
        submitters=Count("user", filter=Q(role__in=[Role.OWNER, Role.MEMBER]), distinct=True),
        managers=Count("user", filter=Q(role=Role.MANAGER), distinct=True),
        auditors=Count("user", filter=Q(role=Role.AUDITOR), distinct=True),
    )
    return {
        **people,
        "projects": Project.objects.filter(archived_at__isnull=True).count(),
        "teams": Team.objects.filter(parent__isnull=False).count(),
        "cells": QuotaCell.objects.count(),
    }


def _money(now: datetime) -> dict[str, int]:
    classes = set(ResourceClass.objects.filter(retired_at__isnull=True).values_list("key", "resource"))
    rated = set(rates_in_force(now).values_list("class_key", "resource"))
    return {
        "classes": len(classes),
        "unrated_classes": len(classes - rated),
        "entries": LedgerEntry.objects.order_by()[: ENOUGH + 1].count(),
    }
