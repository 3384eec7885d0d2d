import django.contrib.auth.models
import django.contrib.auth.validators
import django.contrib.postgres.constraints
import django.contrib.postgres.fields.ranges
import django.db.models.deletion
import django.utils.timezone
import tenants.models.rules
import uuid
from django.conf import settings
from django.db import migrations, models

from portal.lib.partitions import PREPARE_SQL


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('auth', '0012_alter_user_first_name_max_length'),
        ('contenttypes', '0002_remove_content_type_name'),
    ]

    operations = [
        migrations.RunSQL(PREPARE_SQL, migrations.RunSQL.noop),
        migrations.CreateModel(
            name='AuditEvent',
            fields=[
                ('seq', models.BigIntegerField(primary_key=True, serialize=False)),
                ('at', models.DateTimeField()),
                ('actor_id', models.UUIDField(null=True)),
                ('actor_name', models.CharField(blank=True, max_length=200)),
                ('verb', models.CharField(max_length=60)),
                ('result', models.CharField(default='done', max_length=10)),
                ('target_type', models.CharField(blank=True, max_length=40)),
                ('target_id', models.CharField(blank=True, max_length=64)),
                ('target_name', models.CharField(blank=True, max_length=300)),
                ('team_id', models.UUIDField(null=True)),
                ('project_id', models.UUIDField(null=True)),
                ('before', models.JSONField(null=True)),
                ('after', models.JSONField(null=True)),
                ('reason', models.CharField(blank=True, max_length=60)),
                ('note', models.TextField(blank=True)),
                ('request_id', models.UUIDField(default=uuid.uuid4)),
                ('source_ip', models.GenericIPAddressField(null=True)),
                ('digest', models.CharField(default='sha256', max_length=20)),
                ('prev_hash', models.CharField(max_length=64)),
                ('hash', models.CharField(max_length=64)),
            ],
            options={
                'ordering': ['-seq'],
                'default_permissions': (),
                'indexes': [models.Index(fields=['-seq'], name='audit_seq'), models.Index(fields=['project_id', '-seq'], name='audit_project'), models.Index(fields=['target_type', 'target_id'], name='audit_target')],
            },
        ),
        migrations.CreateModel(
            name='User',
            fields=[
                ('password', models.CharField(max_length=128, verbose_name='password')),
                ('last_login', models.DateTimeField(blank=True, null=True, verbose_name='last login')),
                ('is_superuser', models.BooleanField(default=False, help_text='Designates that this user has all permissions without explicitly assigning them.', verbose_name='superuser status')),
                ('username', models.CharField(error_messages={'unique': 'A user with that username already exists.'}, help_text='Required. 150 characters or fewer. Letters, digits and @/./+/-/_ only.', max_length=150, unique=True, validators=[django.contrib.auth.validators.UnicodeUsernameValidator()], verbose_name='username')),
                ('first_name', models.CharField(blank=True, max_length=150, verbose_name='first name')),
                ('last_name', models.CharField(blank=True, max_length=150, verbose_name='last name')),
                ('email', models.EmailField(blank=True, max_length=254, verbose_name='email address')),
                ('is_staff', models.BooleanField(default=False, help_text='Designates whether the user can log into this admin site.', verbose_name='staff status')),
                ('is_active', models.BooleanField(default=True, help_text='Designates whether this user should be treated as active. Unselect this instead of deleting accounts.', verbose_name='active')),
                ('date_joined', models.DateTimeField(default=django.utils.timezone.now, verbose_name='date joined')),
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('display_name', models.CharField(blank=True, max_length=120, verbose_name='name')),
                ('language', models.CharField(blank=True, max_length=10, verbose_name='language')),
                ('groups', models.ManyToManyField(blank=True, help_text='The groups this user belongs to. A user will get all permissions granted to each of their groups.', related_name='user_set', related_query_name='user', to='auth.group', verbose_name='groups')),
                ('user_permissions', models.ManyToManyField(blank=True, help_text='Specific permissions for this user.', related_name='user_set', related_query_name='user', to='auth.permission', verbose_name='user permissions')),
            ],
            options={
                'verbose_name': 'user',
                'verbose_name_plural': 'users',
                'default_permissions': (),
            },
            managers=[
                ('objects', django.contrib.auth.models.UserManager()),
            ],
        ),
        migrations.CreateModel(
            name='Team',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=200)),
                ('slug', models.SlugField(max_length=63, unique=True)),
                ('parent', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.PROTECT, related_name='children', to='tenants.team')),
                ('path', models.TextField(editable=False, unique=True)),
                ('contact', models.CharField(blank=True, max_length=200)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['path'],
                'permissions': [('project_see', 'project.see'), ('project_ask', 'project.ask'), ('project_change', 'project.change'), ('project_manage', 'project.manage'), ('team_see', 'team.see'), ('team_ask', 'team.ask'), ('team_change', 'team.change'), ('team_manage', 'team.manage'), ('member_see', 'member.see'), ('member_ask', 'member.ask'), ('member_change', 'member.change'), ('member_manage', 'member.manage'), ('job_see', 'job.see'), ('job_ask', 'job.ask'), ('job_change', 'job.change'), ('job_manage', 'job.manage'), ('template_see', 'template.see'), ('template_ask', 'template.ask'), ('template_change', 'template.change'), ('template_manage', 'template.manage'), ('data_see', 'data.see'), ('data_ask', 'data.ask'), ('data_change', 'data.change'), ('data_manage', 'data.manage'), ('quota_see', 'quota.see'), ('quota_ask', 'quota.ask'), ('quota_change', 'quota.change'), ('quota_manage', 'quota.manage'), ('request_see', 'request.see'), ('request_ask', 'request.ask'), ('request_change', 'request.change'), ('request_manage', 'request.manage'), ('usage_see', 'usage.see'), ('usage_ask', 'usage.ask'), ('usage_change', 'usage.change'), ('usage_manage', 'usage.manage'), ('period_see', 'period.see'), ('period_ask', 'period.ask'), ('period_change', 'period.change'), ('period_manage', 'period.manage'), ('pool_see', 'pool.see'), ('pool_ask', 'pool.ask'), ('pool_change', 'pool.change'), ('pool_manage', 'pool.manage'), ('cluster_see', 'cluster.see'), ('cluster_ask', 'cluster.ask'), ('cluster_change', 'cluster.change'), ('cluster_manage', 'cluster.manage'), ('policy_see', 'policy.see'), ('policy_ask', 'policy.ask'), ('policy_change', 'policy.change'), ('policy_manage', 'policy.manage'), ('audit_see', 'audit.see'), ('audit_ask', 'audit.ask'), ('audit_change', 'audit.change'), ('audit_manage', 'audit.manage')],
                'default_permissions': (),
                'constraints': [models.UniqueConstraint(condition=models.Q(('parent__isnull', True)), fields=('parent',), name='one_organisation', nulls_distinct=False), models.CheckConstraint(condition=models.Q(('parent__isnull', True), models.Q(('parent', models.F('id')), _negated=True), _connector='OR'), name='team_not_its_own_parent')],
            },
        ),
        migrations.CreateModel(
            name='Project',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('team', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='projects', to='tenants.team')),
                ('name', models.CharField(max_length=200)),
                ('slug', models.SlugField(max_length=63, unique=True)),
                ('environment', models.CharField(default='research', max_length=40)),
                ('contact', models.CharField(blank=True, max_length=200)),
                ('held_reason', models.CharField(blank=True, max_length=60)),
                ('service_token_sha256', models.CharField(blank=True, max_length=64)),
                ('service_token_at', models.DateTimeField(blank=True, null=True)),
                ('created_at', models.DateTimeField()),
                ('archived_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['slug'],
                'permissions': [('project_see', 'project.see'), ('project_ask', 'project.ask'), ('project_change', 'project.change'), ('project_manage', 'project.manage'), ('team_see', 'team.see'), ('team_ask', 'team.ask'), ('team_change', 'team.change'), ('team_manage', 'team.manage'), ('member_see', 'member.see'), ('member_ask', 'member.ask'), ('member_change', 'member.change'), ('member_manage', 'member.manage'), ('job_see', 'job.see'), ('job_ask', 'job.ask'), ('job_change', 'job.change'), ('job_manage', 'job.manage'), ('template_see', 'template.see'), ('template_ask', 'template.ask'), ('template_change', 'template.change'), ('template_manage', 'template.manage'), ('data_see', 'data.see'), ('data_ask', 'data.ask'), ('data_change', 'data.change'), ('data_manage', 'data.manage'), ('quota_see', 'quota.see'), ('quota_ask', 'quota.ask'), ('quota_change', 'quota.change'), ('quota_manage', 'quota.manage'), ('request_see', 'request.see'), ('request_ask', 'request.ask'), ('request_change', 'request.change'), ('request_manage', 'request.manage'), ('usage_see', 'usage.see'), ('usage_ask', 'usage.ask'), ('usage_change', 'usage.change'), ('usage_manage', 'usage.manage'), ('period_see', 'period.see'), ('period_ask', 'period.ask'), ('period_change', 'period.change'), ('period_manage', 'period.manage'), ('pool_see', 'pool.see'), ('pool_ask', 'pool.ask'), ('pool_change', 'pool.change'), ('pool_manage', 'pool.manage'), ('cluster_see', 'cluster.see'), ('cluster_ask', 'cluster.ask'), ('cluster_change', 'cluster.change'), ('cluster_manage', 'cluster.manage'), ('policy_see', 'policy.see'), ('policy_ask', 'policy.ask'), ('policy_change', 'policy.change'), ('policy_manage', 'policy.manage'), ('audit_see', 'audit.see'), ('audit_ask', 'audit.ask'), ('audit_change', 'audit.change'), ('audit_manage', 'audit.manage')],
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Membership',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('role', models.CharField(choices=[('platform_admin', 'platform_admin'), ('pool_admin', 'pool_admin'), ('auditor', 'auditor'), ('manager', 'manager'), ('lead', 'lead'), ('owner', 'owner'), ('member', 'member'), ('viewer', 'viewer')], max_length=20)),
                ('user', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to=settings.AUTH_USER_MODEL)),
                ('group', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='auth.group')),
                ('team', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='tenants.team')),
                ('project', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='memberships', to='tenants.project')),
                ('pool_key', models.CharField(blank=True, max_length=63)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['created_at', 'id'],
                'default_permissions': (),
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('group__isnull', False), ('user__isnull', True)), models.Q(('group__isnull', True), ('user__isnull', False)), _connector='OR'), name='membership_of_user_or_group'), models.CheckConstraint(condition=models.Q(models.Q(('pool_key', ''), ('project__isnull', True), ('team__isnull', False)), models.Q(('pool_key', ''), ('project__isnull', False), ('team__isnull', True)), models.Q(('project__isnull', True), ('team__isnull', True), models.Q(('pool_key', ''), _negated=True)), _connector='OR'), name='membership_in_one_scope'), models.CheckConstraint(condition=models.Q(('role__in', ['platform_admin', 'pool_admin', 'auditor', 'manager', 'lead', 'owner', 'member', 'viewer'])), name='membership_role_known'), models.UniqueConstraint(fields=('user', 'group', 'role', 'team', 'project', 'pool_key'), name='membership_once', nulls_distinct=False)],
            },
        ),
        migrations.CreateModel(
            name='Outbox',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('dedupe_key', models.CharField(max_length=200, unique=True)),
                ('event', models.CharField(max_length=40)),
                ('subject_type', models.CharField(max_length=40)),
                ('subject_id', models.CharField(max_length=64)),
                ('facts', models.JSONField(default=dict)),
                ('recipients', models.JSONField(default=dict)),
                ('at', models.DateTimeField()),
                ('fanned_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['at', 'id'],
                'default_permissions': (),
                'indexes': [models.Index(condition=models.Q(('fanned_at__isnull', True)), fields=['at', 'id'], name='outbox_waiting'), models.Index(fields=['at'], name='outbox_at')],
            },
        ),
        migrations.CreateModel(
            name='Notice',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('dedupe_key', models.CharField(max_length=240, unique=True)),
                ('recipient', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='notices', to=settings.AUTH_USER_MODEL)),
                ('event', models.CharField(max_length=40)),
                ('subject_type', models.CharField(max_length=40)),
                ('subject_id', models.CharField(max_length=64)),
                ('facts', models.JSONField(default=dict)),
                ('at', models.DateTimeField()),
                ('read_at', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['-at', '-id'],
                'default_permissions': (),
                'indexes': [models.Index(fields=['recipient', '-at', '-id'], name='notice_of'), models.Index(condition=models.Q(('read_at__isnull', True)), fields=['recipient'], name='notice_unread'), models.Index(fields=['at'], name='notice_at')],
            },
        ),
        migrations.CreateModel(
            name='TeamUserPermission',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('permission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='auth.permission')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                ('content_object', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='tenants.team')),
            ],
            options={
                'unique_together': {('user', 'permission', 'content_object')},
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='TeamGroupPermission',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('permission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='auth.permission')),
                ('group', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='auth.group')),
                ('content_object', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='tenants.team')),
            ],
            options={
                'unique_together': {('group', 'permission', 'content_object')},
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='ProjectUserPermission',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('permission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='auth.permission')),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to=settings.AUTH_USER_MODEL)),
                ('content_object', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='tenants.project')),
            ],
            options={
                'unique_together': {('user', 'permission', 'content_object')},
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='ProjectGroupPermission',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('permission', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='auth.permission')),
                ('group', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='auth.group')),
                ('content_object', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, to='tenants.project')),
            ],
            options={
                'unique_together': {('group', 'permission', 'content_object')},
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='Grant',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('team', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='grants', to='tenants.team')),
                ('project', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='grants', to='tenants.project')),
                ('pool_key', models.CharField(max_length=63)),
                ('valid_from', models.DateTimeField()),
                ('valid_to', models.DateTimeField(blank=True, null=True)),
                ('priority_ceiling', models.IntegerField(blank=True, null=True)),
                ('class_ceiling', models.CharField(blank=True, max_length=20)),
                ('largest_job_parts', models.BigIntegerField(blank=True, null=True)),
                ('longest_limit_ms', models.BigIntegerField(blank=True, null=True)),
                ('most_at_once', models.IntegerField(blank=True, null=True)),
                ('reason', models.CharField(blank=True, max_length=500)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['pool_key', 'valid_from'],
                'default_permissions': (),
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('project__isnull', False), ('team__isnull', True)), models.Q(('project__isnull', True), ('team__isnull', False)), _connector='OR'), name='grant_to_team_or_project'), models.CheckConstraint(condition=models.Q(('valid_to__isnull', True), ('valid_to__gt', models.F('valid_from')), _connector='OR'), name='grant_period_forward'), models.CheckConstraint(condition=models.Q(models.Q(('largest_job_parts__isnull', True), ('largest_job_parts__gte', 0), _connector='OR'), models.Q(('longest_limit_ms__isnull', True), ('longest_limit_ms__gte', 0), _connector='OR'), models.Q(('most_at_once__isnull', True), ('most_at_once__gte', 0), _connector='OR')), name='grant_bounds_not_negative'), django.contrib.postgres.constraints.ExclusionConstraint(condition=models.Q(('project__isnull', False)), expressions=[('project', '='), ('pool_key', '='), (tenants.models.rules.TimeRange('valid_from', 'valid_to', django.contrib.postgres.fields.ranges.RangeBoundary()), '&&')], name='grant_project_no_overlap'), django.contrib.postgres.constraints.ExclusionConstraint(condition=models.Q(('team__isnull', False)), expressions=[('team', '='), ('pool_key', '='), (tenants.models.rules.TimeRange('valid_from', 'valid_to', django.contrib.postgres.fields.ranges.RangeBoundary()), '&&')], name='grant_team_no_overlap')],
            },
        ),
        migrations.CreateModel(
            name='QuotaCell',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('team', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='quota_cells', to='tenants.team')),
                ('project', models.ForeignKey(blank=True, null=True, on_delete=django.db.models.deletion.CASCADE, related_name='quota_cells', to='tenants.project')),
                ('pool_key', models.CharField(max_length=63)),
                ('class_key', models.CharField(max_length=63)),
                ('resource', models.CharField(max_length=20)),
                ('guarantee', models.BigIntegerField(blank=True, null=True)),
                ('nominal', models.BigIntegerField(blank=True, null=True)),
                ('ceiling', models.BigIntegerField(blank=True, null=True)),
                ('updated_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['pool_key', 'class_key', 'resource'],
                'default_permissions': (),
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('project__isnull', False), ('team__isnull', True)), models.Q(('project__isnull', True), ('team__isnull', False)), _connector='OR'), name='cell_of_team_or_project'), models.CheckConstraint(condition=models.Q(models.Q(('guarantee__isnull', True), ('guarantee__gte', 0), _connector='OR'), models.Q(('nominal__isnull', True), ('nominal__gte', 0), _connector='OR'), models.Q(('ceiling__isnull', True), ('ceiling__gte', 0), _connector='OR')), name='cell_not_negative'), models.CheckConstraint(condition=models.Q(models.Q(('guarantee__isnull', True), ('nominal__isnull', True), ('guarantee__lte', models.F('nominal')), _connector='OR'), models.Q(('nominal__isnull', True), ('ceiling__isnull', True), ('nominal__lte', models.F('ceiling')), _connector='OR'), models.Q(('guarantee__isnull', True), ('ceiling__isnull', True), ('guarantee__lte', models.F('ceiling')), _connector='OR')), name='cell_guarantee_nominal_ceiling'), models.UniqueConstraint(fields=('team', 'project', 'pool_key', 'class_key', 'resource'), name='cell_once', nulls_distinct=False)],
            },
        ),
        migrations.CreateModel(
            name='Request',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='requests', to='tenants.project')),
                ('author', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='requests', to=settings.AUTH_USER_MODEL)),
                ('kind', models.CharField(max_length=40)),
                ('state', models.CharField(choices=[('draft', 'Draft'), ('open', 'Open')], default='draft', max_length=20)),
                ('asked', models.JSONField(default=dict)),
                ('reason', models.TextField(blank=True)),
                ('created_at', models.DateTimeField()),
            ],
            options={
                'ordering': ['-created_at'],
                'default_permissions': (),
            },
        ),
        migrations.CreateModel(
            name='ApiToken',
            fields=[
                ('digest', models.CharField(max_length=128, primary_key=True, serialize=False)),
                ('token_key', models.CharField(db_index=True, max_length=25)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='auth_token_set', to=settings.AUTH_USER_MODEL)),
                ('key', models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ('name', models.CharField(max_length=120)),
                ('read_only', models.BooleanField(default=False)),
                ('created', models.DateTimeField()),
                ('expiry', models.DateTimeField()),
                ('last_used', models.DateTimeField(blank=True, null=True)),
            ],
            options={
                'ordering': ['-created', 'key'],
                'default_permissions': (),
            },
        ),
    ]
