"""What a page can do, the API can do: every page and action has its route, written by hand. A new page without a row
fails, and so does a row whose route or verb is not in the checked-in document."""

from pathlib import Path
from typing import Any

import yaml
from django.urls import URLPattern, URLResolver, get_resolver, reverse

DOCUMENT = Path(__file__).parents[3] / "docs" / "openapi.yaml"
# Page -> verbs and routes that do the same, or "" and why there is none.
ROUTES: dict[str, str] = {
    "home": "GET api_jobs, GET api_queue, GET api_quotas, GET api_my_usage",
    "about": "GET api_about",
    "setup": "GET api_setup",
    "setup_pilot": "POST api_pilot_preview, POST api_pilot",
    "inbox": "GET api_notices",
    "inbox_count": "GET api_notices",
    "notices_read": "POST api_notices_read",
    "notice_read": "POST api_notice_read",
    # jobs
    "template_list": "GET api_templates",
    "template_detail": "GET api_template",
    "template_versions": "GET api_template_versions",
    "template_copy": "POST api_template_copy",
    "template_edit": "POST api_template_versions",
    "template_retire": "POST api_template_retire",
    "template_restore": "POST api_template_restore",
    "job_new": "POST api_jobs",
    "job_preview": "POST api_job_preview",
    "job_list": "GET api_jobs",
    "queue_page": "GET api_queue",
    "validation_matrix": "GET api_validation_matrix",
    "artifact_list": "GET api_artifacts",
    "service_list": "GET api_jobs",
    "job_detail": "GET api_job, GET api_job_events, GET api_job_artifacts",
    "job_status": "GET api_job",
    "job_part": "GET api_job",
    "job_stream": "GET api_job",
    "job_log": "GET api_job_log",
    "job_log_download": "GET api_job_log",
    "job_file": "GET api_job_file",
    "job_unblock": "GET api_job_unblockers, POST api_job_unblockers",
    "job_cancel": "POST api_job_cancel",
    "service_token": "POST api_service_token",
    # usage
    "my_usage": "GET api_my_usage",
    "usage_by_project": "GET api_project_usage",
    "job_usage": "GET api_job",
    # resources
    "cluster_list": "GET api_clusters",
    "cluster_detail": "GET api_cluster",
    "cluster_new": "GET api_clusters, GET api_cluster_role",
    "cluster_register": "POST api_clusters",
    "cluster_connect": "POST api_kubernetes_clusters, POST api_kubernetes_preview",
    "cluster_access": "GET api_cluster_access",
    "permission_review": "POST api_cluster_review",
    "credential_rotate": "PUT api_cluster_credential",
    "credential_remove": "DELETE api_cluster_credential",
    "role_manifest": "GET api_cluster_role",
    "cluster_edit": "PATCH api_cluster",
    "cluster_attach": "POST api_cluster_state",
    "cluster_pause": "POST api_cluster_state",
    "cluster_detach": "POST api_cluster_state",
    "node_list": "GET api_nodes",
    "node_detail": "GET api_node, GET api_node_admission",
    "node_cordon": "POST api_node_stage, POST api_node_stage_preview",
    "node_drain": "POST api_node_stage, POST api_node_stage_preview",
    "node_retire": "POST api_node_stage, POST api_node_stage_preview",
    "node_release": "POST api_node_stage, POST api_node_stage_preview",
    "node_validate": "POST api_node_validation, POST api_node_validation_preview",
    "node_admit": "POST api_node_admission, POST api_node_admission_preview",
    "pool_admission": "GET api_pool_admission, PUT api_pool_admission, POST api_pool_admission_preview",
    "device_list": "GET api_devices",
    "pool_list": "GET api_pools",
    "pool_detail": "GET api_pool, GET api_pool_profile, GET api_pool_rules",
    "pool_new": "POST api_pools, POST api_pool_preview",
    "pool_edit": "PATCH api_pool, POST api_pool_preview",
    "pool_rules": "GET api_pool_rules, PATCH api_pool_rules, POST api_pool_rules_preview",
    "pool_delete": "DELETE api_pool",
    "class_list": "GET api_classes",
    "class_detail": "GET api_class, GET api_class_facts, GET api_equivalences",
    "class_new": "POST api_classes, POST api_class_preview",
    "class_edit": "PATCH api_class, POST api_class_preview",
    "class_retire": "POST api_class_retire",
    "rate_publish": "POST api_rates, POST api_rate_preview",
    "runtime_list": "GET api_runtimes",
    "runtime_detail": "GET api_runtime",
    "runtime_new": "POST api_runtimes, POST api_runtime_new_preview",
    "runtime_edit": "PATCH api_runtime, POST api_runtime_preview",
    "runtime_retire": "POST api_runtime_retire",
    "fact_declare": "POST api_class_facts, POST api_class_fact_preview",
    "fact_withdraw": "DELETE api_class_fact",
    "equivalence_declare": "POST api_equivalences, POST api_equivalence_preview",
    "equivalence_withdraw": "DELETE api_equivalence",
    "vendor_row_list": "GET api_vendor_rows",
    "vendor_row_new": "POST api_vendor_rows, POST api_vendor_row_preview",
    "vendor_row_edit": "PUT api_vendor_row, POST api_vendor_row_change_preview",
    "vendor_row_remove": "DELETE api_vendor_row",
    "data_list": "GET api_data_sources",
    # tenants
    "my_team": "GET api_teams",
    "team_list": "GET api_teams",
    "team_detail": "GET api_team, GET api_team_members",
    "team_new": "POST api_teams, POST api_team_new_preview",
    "team_edit": "PATCH api_team, POST api_team_preview",
    "team_delete": "POST api_team_delete, POST api_team_delete_preview",
    "team_member_new": "POST api_team_members, POST api_team_members_preview",
    "project_list": "GET api_projects",
    "project_detail": "GET api_project, GET api_project_members",
    "project_new": "POST api_projects, POST api_project_new_preview",
    "project_edit": "PATCH api_project, POST api_project_preview",
    "project_archive": "POST api_project_archive, POST api_project_archive_preview",
    "project_restore": "POST api_project_restore, POST api_project_restore_preview",
    "project_member_new": "POST api_project_members, POST api_project_members_preview",
    "member_edit": "PATCH api_member, POST api_member_preview",
    "member_remove": "POST api_member_remove, POST api_member_remove_preview",
    "people": "GET api_people",
    "person_detail": "GET api_people",
    "person_new": "POST api_people, POST api_person_new_preview",
    "person_block": "POST api_person_active, POST api_person_active_preview",
    "person_unblock": "POST api_person_active, POST api_person_active_preview",
    "person_password": "POST api_person_password, POST api_person_password_preview",
    "role_list": "GET api_roles",
    "token_list": "GET api_tokens",
    "token_new": "POST api_tokens",
    "token_delete": "DELETE api_token",
    "grant_new": "POST api_grants, POST api_grant_new_preview",
    "grant_edit": "PATCH api_grant, POST api_grant_preview",
    "grant_end": "POST api_grant_end, POST api_grant_end_preview",
    "quota_new": "PUT api_quotas, POST api_quota_preview",
    "quota_edit": "PUT api_quotas, POST api_quota_preview",
    "quota_delete": "POST api_quota_delete, POST api_quota_delete_preview",
    "audit_list": "GET api_audit",
    "audit_verify": "GET api_audit_chain",
}
ALONE = {
    "login": "a token is made on a page, with a session",
    "logout": "a token is deleted instead",
    "set_language": "a request names its language itself",
    "healthz": "for a balancer, outside the API",
}


def patterns(resolver: URLResolver | None = None) -> dict[str, URLPattern]:
    """All routes by name."""
    found: dict[str, URLPattern] = {}
    for pattern in (resolver or get_resolver()).url_patterns:
        if isinstance(pattern, URLResolver):
            found |= patterns(pattern)
        elif pattern.name:
            found[pattern.name] = pattern
    return found


def address_of(name: str, pattern: URLPattern) -> str:
    """The path of a route as the document writes it."""
    arguments: dict[str, Any] = {}
    for argument, converter in pattern.pattern.converters.items():
        kind = type(converter).__name__
        arguments[argument] = "00000000-0000-0000-0000-000000000000" if kind == "UUIDConverter" else "x"
    address = reverse(name, kwargs=arguments)
    for argument, value in arguments.items():
        address = address.replace(f"/{value}", f"/{{{argument}}}", 1)
    return address


def test_every_page_has_its_route_in_the_api():
    pages = {name for name in patterns() if not name.startswith("api")}
    assert pages - ROUTES.keys() - ALONE.keys() == set()
    assert (ROUTES.keys() | ALONE.keys()) - pages == set()


def test_every_route_that_is_named_does_what_is_said():
    known, paths = patterns(), yaml.safe_load(DOCUMENT.read_text())["paths"]
    missing = []
    for page, said in ROUTES.items():
        for verb, name in (one.split() for one in said.split(", ")):
            address = address_of(name, known[name]) if name in known else None
            if address is None or verb.lower() not in paths.get(address, {}):
                missing.append(f"{page}: {verb} {name} {address}")
    assert missing == []
