"""Indexes of the lists of jobs, and of the way from an artifact to the jobs that started from it."""

from django.contrib.postgres.indexes import GinIndex
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("jobs", "0002_partitions")]
    operations = [
        migrations.AddIndex("attempt", models.Index(fields=["pool_key", "job"], name="attempt_pool")),
        migrations.AddIndex("job", models.Index(fields=["-submitted_at", "id"], name="job_newest")),
        migrations.AddIndex("job", models.Index(fields=["reason", "-submitted_at"], name="job_reason")),
        migrations.AddIndex("job", models.Index(fields=["task_type", "-submitted_at"], name="job_task_type")),
        migrations.AddIndex("job", GinIndex(fields=["inputs"], name="job_inputs", opclasses=["jsonb_path_ops"])),
        migrations.AddIndex("artifact", models.Index(fields=["-created_at", "id"], name="artifact_newest")),
    ]
