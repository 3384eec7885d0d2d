"""Job events are partitioned by month."""

from django.db import migrations

from portal.lib.partitions import partition


class Migration(migrations.Migration):
    dependencies = [("jobs", "0001_initial"), ("tenants", "0002_audit")]
    operations = [migrations.RunPython(partition("jobs_jobevent"), migrations.RunPython.noop)]
