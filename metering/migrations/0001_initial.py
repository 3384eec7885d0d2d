import django.contrib.postgres.constraints
import django.contrib.postgres.fields.ranges
import tenants.models.rules
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('jobs', '0001_initial'),
        ('resources', '0001_initial'),
        ('tenants', '0002_audit'),
    ]

    operations = [
        migrations.CreateModel(
            name='Period',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=40, unique=True)),
                ('zone', models.CharField(default='UTC', max_length=60)),
                ('start', models.DateTimeField()),
                ('end', models.DateTimeField()),
                ('closed_at', models.DateTimeField(blank=True, null=True)),
                ('sha256', models.CharField(blank=True, max_length=64)),
            ],
            options={
                'ordering': ['-start'],
                'default_permissions': (),
                'constraints': [models.CheckConstraint(condition=models.Q(('end__gt', models.F('start'))), name='period_forward'), django.contrib.postgres.constraints.ExclusionConstraint(expressions=[(tenants.models.rules.TimeRange('start', 'end', django.contrib.postgres.fields.ranges.RangeBoundary()), '&&')], name='period_no_overlap')],
            },
        ),
        migrations.CreateModel(
            name='Segment',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('start', models.DateTimeField()),
                ('end', models.DateTimeField()),
                ('phase', models.CharField(max_length=12)),
                ('lane', models.CharField(default='attributed', max_length=16)),
                ('quantity', models.BigIntegerField()),
                ('class_key', models.CharField(max_length=63)),
                ('resource', models.CharField(max_length=20)),
                ('node_name', models.CharField(max_length=253)),
                ('cluster_key', models.CharField(max_length=63)),
                ('pool_key', models.CharField(max_length=63)),
                ('allocation_id', models.UUIDField()),
                ('attempt_id', models.UUIDField()),
                ('job_id', models.UUIDField()),
                ('job_name', models.CharField(max_length=200)),
                ('task_type', models.CharField(max_length=20)),
                ('project_id', models.UUIDField()),
                ('project_name', models.CharField(max_length=200)),
                ('team_id', models.UUIDField()),
                ('team_name', models.CharField(max_length=200)),
                ('user_id', models.UUIDField()),
                ('user_name', models.CharField(max_length=200)),
                ('reverses_id', models.UUIDField(null=True)),
                ('recorded_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['start', 'id'],
                'default_permissions': (),
                'indexes': [models.Index(fields=['user_id', 'start'], name='segment_user'), models.Index(fields=['project_id', 'start'], name='segment_project'), models.Index(fields=['job_id'], name='segment_job')],
                'constraints': [models.CheckConstraint(condition=models.Q(('end__gt', models.F('start'))), name='segment_forward'), models.CheckConstraint(condition=models.Q(('quantity__gt', 0)), name='segment_positive')],
            },
        ),
        migrations.CreateModel(
            name='MeteredAllocation',
            fields=[
                ('allocation_id', models.UUIDField(primary_key=True, serialize=False)),
                ('recorded_at', models.DateTimeField()),
            ],
            options={
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='LedgerEntry',
            fields=[
                ('id', models.UUIDField(editable=False, primary_key=True, serialize=False)),
                ('start', models.DateTimeField()),
                ('segment_id', models.UUIDField()),
                ('period_id', models.UUIDField(null=True)),
                ('rate_id', models.UUIDField(null=True)),
                ('quantity_ms', models.DecimalField(decimal_places=0, max_digits=38)),
                ('currency', models.CharField(blank=True, max_length=10)),
                ('cost_micro', models.DecimalField(decimal_places=12, max_digits=38, null=True)),
                ('weight_micro', models.DecimalField(decimal_places=12, max_digits=38, null=True)),
                ('recorded_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['start', 'id'],
                'default_permissions': (),
                'indexes': [models.Index(fields=['segment_id'], name='entry_segment')],
            },
        ),
    ]
