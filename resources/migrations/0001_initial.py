import django.contrib.postgres.constraints
import django.contrib.postgres.fields.ranges
import django.db.models.deletion
import tenants.models.rules
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('tenants', '0002_audit'),
    ]

    operations = [
        migrations.CreateModel(
            name='ResourceClass',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('key', models.SlugField(max_length=63, unique=True)),
                ('name', models.JSONField(default=dict)),
                ('kind', models.CharField(choices=[('GPU', 'GPU'), ('NPU', 'NPU'), ('ACCELERATOR', 'Accelerator'), ('CPU', 'CPU'), ('MEMORY', 'Memory'), ('STORAGE', 'Storage'), ('NETWORK', 'Network')], max_length=12)),
                ('resource', models.CharField(max_length=20)),
                ('vendor', models.CharField(blank=True, max_length=60)),
                ('model', models.CharField(blank=True, max_length=120)),
                ('memory_bytes', models.BigIntegerField(blank=True, null=True)),
                ('match', models.JSONField(blank=True, default=dict)),
                ('labels', models.JSONField(blank=True, default=dict)),
                ('maintainer', models.CharField(blank=True, max_length=200)),
                ('retired_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['kind', 'key'],
                'default_permissions': (),
                'constraints': [models.CheckConstraint(condition=models.Q(('kind__in', ['GPU', 'NPU', 'ACCELERATOR', 'CPU', 'MEMORY', 'STORAGE', 'NETWORK'])), name='class_kind_known')],
            },
        ),
        migrations.CreateModel(
            name='Runtime',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('key', models.SlugField(max_length=63, unique=True)),
                ('name', models.JSONField(default=dict)),
                ('driver_kind', models.CharField(max_length=20)),
                ('image', models.CharField(blank=True, max_length=500)),
                ('framework', models.CharField(blank=True, max_length=120)),
                ('version', models.CharField(blank=True, max_length=60)),
                ('runtime_class', models.CharField(blank=True, max_length=63)),
                ('kinds', models.JSONField(default=list)),
                ('source', models.CharField(blank=True, max_length=300)),
                ('declared_at', models.DateTimeField()),
                ('classes', models.ManyToManyField(blank=True, related_name='runtimes', to='resources.resourceclass')),
            ],
            options={
                'ordering': ['key'],
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='RateVersion',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('class_key', models.CharField(max_length=63)),
                ('resource', models.CharField(max_length=20)),
                ('currency', models.CharField(default='points', max_length=10)),
                ('price_micro', models.BigIntegerField(blank=True, null=True)),
                ('weight_micro', models.BigIntegerField(blank=True, null=True)),
                ('valid_from', models.DateTimeField()),
                ('valid_to', models.DateTimeField(blank=True, null=True)),
                ('published_at', models.DateTimeField()),
                ('note', models.CharField(blank=True, max_length=300)),
            ],
            options={
                'ordering': ['class_key', 'valid_from'],
                'default_permissions': (),
                'constraints': [models.CheckConstraint(condition=models.Q(('valid_to__isnull', True), ('valid_to__gt', models.F('valid_from')), _connector='OR'), name='rate_period_forward'), models.CheckConstraint(condition=models.Q(models.Q(('price_micro__isnull', True), ('price_micro__gte', 0), _connector='OR'), models.Q(('weight_micro__isnull', True), ('weight_micro__gte', 0), _connector='OR')), name='rate_not_negative'), django.contrib.postgres.constraints.ExclusionConstraint(expressions=[('class_key', '='), ('resource', '='), (tenants.models.rules.TimeRange('valid_from', 'valid_to', django.contrib.postgres.fields.ranges.RangeBoundary()), '&&')], name='rate_no_overlap')],
            },
        ),
        migrations.CreateModel(
            name='DataSource',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200)),
                ('kind', models.CharField(max_length=40)),
                ('team', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='data_sources', to='tenants.team')),
                ('project', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='data_sources', to='tenants.project')),
                ('cluster_key', models.CharField(blank=True, max_length=63)),
                ('location', models.CharField(max_length=1000)),
                ('bytes', models.BigIntegerField(blank=True, null=True)),
                ('digest', models.CharField(blank=True, max_length=80)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['name'],
                'default_permissions': (),
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('project__isnull', False), ('team__isnull', True)), models.Q(('project__isnull', True), ('team__isnull', False)), _connector='OR'), name='data_of_team_or_project')],
            },
        ),
        migrations.CreateModel(
            name='Pool',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('key', models.SlugField(max_length=63, unique=True)),
                ('name', models.JSONField(default=dict)),
                ('selector', models.JSONField(blank=True, default=dict)),
                ('labels', models.JSONField(blank=True, default=dict)),
                ('borrowing', models.BooleanField(default=False)),
                ('environment', models.CharField(blank=True, max_length=40)),
                ('maintainer', models.CharField(blank=True, max_length=200)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['key'],
                'permissions': [('project_see', 'project.see'), ('project_ask', 'project.ask'), ('project_change', 'project.change'), ('project_manage', 'project.manage'), ('team_see', 'team.see'), ('team_ask', 'team.ask'), ('team_change', 'team.change'), ('team_manage', 'team.manage'), ('member_see', 'member.see'), ('member_ask', 'member.ask'), ('member_change', 'member.change'), ('member_manage', 'member.manage'), ('job_see', 'job.see'), ('job_ask', 'job.ask'), ('job_change', 'job.change'), ('job_manage', 'job.manage'), ('template_see', 'template.see'), ('template_ask', 'template.ask'), ('template_change', 'template.change'), ('template_manage', 'template.manage'), ('data_see', 'data.see'), ('data_ask', 'data.ask'), ('data_change', 'data.change'), ('data_manage', 'data.manage'), ('quota_see', 'quota.see'), ('quota_ask', 'quota.ask'), ('quota_change', 'quota.change'), ('quota_manage', 'quota.manage'), ('request_see', 'request.see'), ('request_ask', 'request.ask'), ('request_change', 'request.change'), ('request_manage', 'request.manage'), ('usage_see', 'usage.see'), ('usage_ask', 'usage.ask'), ('usage_change', 'usage.change'), ('usage_manage', 'usage.manage'), ('period_see', 'period.see'), ('period_ask', 'period.ask'), ('period_change', 'period.change'), ('period_manage', 'period.manage'), ('pool_see', 'pool.see'), ('pool_ask', 'pool.ask'), ('pool_change', 'pool.change'), ('pool_manage', 'pool.manage'), ('cluster_see', 'cluster.see'), ('cluster_ask', 'cluster.ask'), ('cluster_change', 'cluster.change'), ('cluster_manage', 'cluster.manage'), ('policy_see', 'policy.see'), ('policy_ask', 'policy.ask'), ('policy_change', 'policy.change'), ('policy_manage', 'policy.manage'), ('audit_see', 'audit.see'), ('audit_ask', 'audit.ask'), ('audit_change', 'audit.change'), ('audit_manage', 'audit.manage')],
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Cluster',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('key', models.SlugField(max_length=63, unique=True)),
                ('name', models.CharField(max_length=200)),
                ('driver', models.CharField(max_length=20)),
                ('location', models.CharField(blank=True, max_length=200)),
                ('maintainer', models.CharField(blank=True, max_length=200)),
                ('cost_basis', models.CharField(default='owned', max_length=20)),
                ('state', models.CharField(choices=[('attached', 'Attached'), ('paused', 'Paused'), ('detached', 'Detached')], default='attached', max_length=10)),
                ('simulated', models.BooleanField(default=False)),
                ('isolation', models.BooleanField(default=False)),
                ('isolation_detail', models.CharField(blank=True, max_length=300)),
                ('last_seen_at', models.DateTimeField(blank=True, null=True)),
                ('last_error', models.CharField(blank=True, max_length=300)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['key'],
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Node',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('cluster', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='nodes', to='resources.cluster')),
                ('pool', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='nodes', to='resources.pool')),
                ('name', models.CharField(max_length=253)),
                ('stage', models.CharField(choices=[('discovered', 'Discovered'), ('validating', 'Validating'), ('schedulable', 'Schedulable'), ('cordoned', 'Cordoned'), ('draining', 'Draining'), ('unreachable', 'Unreachable'), ('retired', 'Retired')], default='discovered', max_length=12)),
                ('held_stage', models.CharField(blank=True, max_length=12)),
                ('held_by', models.CharField(blank=True, max_length=200)),
                ('held_note', models.CharField(blank=True, max_length=1000)),
                ('held_at', models.DateTimeField(blank=True, null=True)),
                ('ready', models.BooleanField(default=False)),
                ('reason', models.CharField(blank=True, max_length=200)),
                ('architecture', models.CharField(blank=True, max_length=20)),
                ('os', models.CharField(blank=True, max_length=60)),
                ('labels', models.JSONField(blank=True, default=dict)),
                ('topology', models.JSONField(blank=True, default=list)),
                ('numa', models.JSONField(blank=True, default=list)),
                ('cpu_milli', models.BigIntegerField()),
                ('cpu_allocatable_milli', models.BigIntegerField()),
                ('memory_bytes', models.BigIntegerField()),
                ('memory_allocatable_bytes', models.BigIntegerField()),
                ('storage_bytes', models.BigIntegerField(blank=True, null=True)),
                ('last_seen_at', models.DateTimeField()),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['cluster__key', 'name'],
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('cluster', 'name'), name='node_once'), models.CheckConstraint(condition=models.Q(('cpu_milli__gte', 0), ('memory_bytes__gte', 0), ('cpu_allocatable_milli__gte', 0), ('memory_allocatable_bytes__gte', 0)), name='node_not_negative'), models.CheckConstraint(condition=models.Q(('held_stage__in', ['', 'cordoned', 'draining', 'retired'])), name='node_held_stage_known')],
            },
        ),
        migrations.CreateModel(
            name='DeviceGroup',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('node', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='groups', to='resources.node')),
                ('resource_class', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='groups', to='resources.resourceclass')),
                ('resource_name', models.CharField(max_length=253)),
                ('vendor', models.CharField(blank=True, max_length=60)),
                ('kind', models.CharField(max_length=12)),
                ('model', models.CharField(blank=True, max_length=120)),
                ('driver_version', models.CharField(blank=True, max_length=60)),
                ('whole', models.BigIntegerField(default=42000)),
                ('capacity_parts', models.BigIntegerField()),
                ('allocatable_parts', models.BigIntegerField()),
            ],
            options={
                'ordering': ['resource_name'],
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('node', 'resource_name'), name='group_once'), models.CheckConstraint(condition=models.Q(('capacity_parts__gte', 0), ('allocatable_parts__gte', 0), ('whole__gt', 0)), name='group_not_negative')],
            },
        ),
        migrations.CreateModel(
            name='Device',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('group', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='devices', to='resources.devicegroup')),
                ('uuid', models.CharField(max_length=120)),
                ('index', models.IntegerField()),
                ('memory_bytes', models.BigIntegerField(blank=True, null=True)),
                ('numa_node', models.IntegerField(blank=True, null=True)),
                ('healthy', models.BooleanField(default=True)),
                ('detail', models.CharField(blank=True, max_length=300)),
            ],
            options={
                'ordering': ['group', 'index'],
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(fields=('group', 'uuid'), name='device_once')],
            },
        ),
        migrations.CreateModel(
            name='CapacitySegment',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('node', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='capacity_segments', to='resources.node')),
                ('class_key', models.CharField(max_length=63)),
                ('resource', models.CharField(max_length=20)),
                ('state', models.CharField(max_length=20)),
                ('quantity', models.BigIntegerField()),
                ('start', models.DateTimeField()),
                ('end', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['node', 'class_key', 'start'],
                'default_permissions': (),
                'constraints': [models.CheckConstraint(condition=models.Q(('end__isnull', True), ('end__gt', models.F('start')), _connector='OR'), name='capacity_forward'), models.CheckConstraint(condition=models.Q(('quantity__gte', 0)), name='capacity_not_negative'), models.UniqueConstraint(condition=models.Q(('end__isnull', True)), fields=('node', 'class_key', 'resource', 'state'), name='capacity_one_open')],
            },
        ),
        migrations.CreateModel(
            name='PoolUserPermission',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('permission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='auth.permission')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                ('content_object', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='resources.pool')),
            ],
            options={
                'unique_together': {('user', 'permission', 'content_object')},
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='PoolGroupPermission',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('permission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='auth.permission')),
                ('group', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='auth.group')),
                ('content_object', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='resources.pool')),
            ],
            options={
                'unique_together': {('group', 'permission', 'content_object')},
                'default_permissions': (),
            },
        ),
    ]
