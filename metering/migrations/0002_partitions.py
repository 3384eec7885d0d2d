"""The ledger is partitioned by month."""

from django.db import migrations

from portal.lib.partitions import partition


class Migration(migrations.Migration):
    dependencies = [("metering", "0001_initial"), ("tenants", "0002_audit")]
    operations = [
        migrations.RunPython(partition("metering_segment"), migrations.RunPython.noop),
        migrations.RunPython(partition("metering_ledgerentry"), migrations.RunPython.noop),
    ]
