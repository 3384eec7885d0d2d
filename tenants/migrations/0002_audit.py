"""The audit trail: partitioned, append-only for everyone, insert and select only for the application's role."""

from django.db import migrations

from portal.lib.partitions import partition

APPEND_ONLY = """
CREATE FUNCTION audit_append_only() RETURNS trigger LANGUAGE plpgsql AS $fn$
BEGIN
  RAISE EXCEPTION 'the audit trail is append-only' USING ERRCODE = 'insufficient_privilege';
END $fn$;
CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE ON tenants_auditevent
  FOR EACH ROW EXECUTE FUNCTION audit_append_only();
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON tenants_auditevent
  FOR EACH STATEMENT EXECUTE FUNCTION audit_append_only();
REVOKE UPDATE, DELETE, TRUNCATE ON tenants_auditevent FROM portal_app;
REVOKE INSERT, UPDATE, DELETE ON django_migrations, django_content_type, auth_permission FROM portal_app;
"""


class Migration(migrations.Migration):
    dependencies = [("tenants", "0001_initial")]
    operations = [
        migrations.RunPython(partition("tenants_auditevent"), migrations.RunPython.noop),
        migrations.RunSQL(APPEND_ONLY, migrations.RunSQL.noop),
    ]
