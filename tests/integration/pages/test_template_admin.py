"""Templates of one's own: copied, changed version by version, retired; looked at before anything is saved."""

import json
import re

import pytest

from jobs.models import JobTemplate, TemplateVersion
from jobs.selectors.templates import newest_version, templates_visible_to
from jobs.services.copy_template import copy_template
from jobs.services.publish_shipped_templates import publish_shipped_templates
from jobs.services.publish_version import publish_version
from jobs.services.retire_template import retire_template
from portal.lib.errors import Conflict, Denied, Invalid, NotFound
from tenants.models import AuditEvent
from tests.builders import NOW

SHIPPED = "train-network"


@pytest.fixture
def shipped(cast) -> TemplateVersion:
    publish_shipped_templates(now=NOW)
    return TemplateVersion.objects.get(template__slug=SHIPPED)


@pytest.fixture
def own(cast, shipped) -> JobTemplate:
    made = copy_template(
        actor=cast.owner, source=shipped, project=cast.alpha, slug="our-training", title="Our training", now=NOW
    )
    return made.template


def digest(page: str) -> str:
    return re.search(r'name="digest" value="([^"]*)"', page)[1]


def fields(page: str) -> dict[str, str]:
    """What the form shows, as a browser would send it back."""
    from html import unescape

    found = dict(re.findall(r'<input type="(?:text|hidden)" name="([^"]+)"[^>]*?value="([^"]*)"', page))
    found |= dict(re.findall(r'<textarea name="([^"]+)"[^>]*>\s?(.*?)</textarea>', page, re.DOTALL))
    return {name: unescape(value) for name, value in found.items() if name != "csrfmiddlewaretoken"}


class TestCopy:
    def test_an_owner_copies_into_the_project_and_only_it_sees_the_copy(self, cast, own):
        version = newest_version(cast.member, "our-training")
        assert version.number == 1 and version.spec["title"] == {"en": "Our training"}
        assert version.spec["program"] == "training" and version.published_by == cast.owner
        assert own not in templates_visible_to(cast.outsider)
        with pytest.raises(NotFound):
            newest_version(cast.outsider, "our-training")
        event = AuditEvent.objects.get(verb="template.copied")
        assert event.after["copied_from"] == "train-network v1" and event.project_id == cast.alpha.pk

    @pytest.mark.parametrize("person", ["member", "viewer", "auditor"])
    def test_others_may_not(self, cast, shipped, person):
        with pytest.raises(Denied):
            copy_template(actor=cast.person(person), source=shipped, project=cast.alpha, slug="a", title="A", now=NOW)

    def test_for_everybody_is_the_platforms_to_decide(self, cast, shipped):
        with pytest.raises(Denied):
            copy_template(actor=cast.lead, source=shipped, project=None, slug="a", title="A", now=NOW)
        made = copy_template(actor=cast.platform_admin, source=shipped, project=None, slug="a", title="A", now=NOW)
        assert made.template in templates_visible_to(cast.outsider)

    @pytest.mark.parametrize(
        ("slug", "title", "field"),
        [("our-training", "T", "slug"), ("No Slug", "T", "slug"), ("a" * 64, "T", "slug"), ("fine", " ", "title")],
    )
    def test_bad_names_are_refused_beside_their_field(self, cast, shipped, own, slug, title, field):
        with pytest.raises(Invalid) as refused:
            copy_template(actor=cast.owner, source=shipped, project=cast.alpha, slug=slug, title=title, now=NOW)
        assert [error.field for error in refused.value.fields] == [field]
        assert JobTemplate.objects.filter(project=cast.alpha).count() == 1

    def test_on_the_page(self, cast, as_user, shipped):
        client = as_user(cast.owner)
        path = f"/templates/{SHIPPED}/copy"
        start = client.get(path).content.decode()
        sent = {"place": str(cast.alpha.pk), "slug": "mine", "title": "Mine", "digest": digest(start)}
        preview = client.post(path, sent | {"step": "preview"}).content.decode()
        saved = client.post(path, sent | {"step": "save", "digest": digest(preview), "reason": "For our data."})
        assert saved.status_code == 302 and saved["Location"] == "/templates/mine"
        assert AuditEvent.objects.get(verb="template.copied").note == "For our data."

    def test_another_projects_id_is_no_place(self, cast, as_user, shipped):
        sent = {"place": str(cast.beta.pk), "slug": "mine", "title": "Mine", "step": "preview"}
        assert as_user(cast.owner).post(f"/templates/{SHIPPED}/copy", sent).status_code == 422


class TestVersions:
    def publish(self, cast, own, base=1, **parts):
        return publish_version(actor=cast.owner, template=own, base=base, parts=parts, now=NOW, note="why")

    def test_the_next_number_and_what_changed_are_recorded(self, cast, own):
        made = self.publish(cast, own, title={"en": "Better"})
        assert made.number == 2 and newest_version(cast.member, "our-training") == made
        event = AuditEvent.objects.get(verb="template.published", target_id=str(own.pk))
        assert event.before == {"version": 1, "title.en": '"Our training"'}
        assert event.after == {"version": 2, "title.en": '"Better"'} and event.note == "why"

    def test_an_old_base_no_change_and_a_retired_template_are_conflicts(self, cast, own):
        with pytest.raises(Conflict, match="NothingChanged"):
            self.publish(cast, own, title={"en": "Our training"})
        self.publish(cast, own, title={"en": "Better"})
        with pytest.raises(Conflict, match="VersionOutdated"):
            self.publish(cast, own, title={"en": "Best"})
        retire_template(actor=cast.owner, template=own, now=NOW)
        with pytest.raises(Conflict, match="TemplateRetired"):
            self.publish(cast, own, base=2, title={"en": "Best"})
        assert own.versions.count() == 2

    def test_what_comes_with_the_product_is_copied_not_changed(self, cast, shipped):
        with pytest.raises(Conflict, match="TemplateShipped"):
            publish_version(
                actor=cast.platform_admin, template=shipped.template, base=1, parts={"title": {"en": "X"}}, now=NOW
            )

    def test_the_page_shows_diff_and_form_then_saves(self, cast, as_user, own):
        client = as_user(cast.owner)
        path = "/templates/our-training/edit"
        sent = fields(client.get(path).content.decode())
        params = json.loads(sent["params"])
        params["properties"]["steps"]["maximum"] = 5_000
        sent |= {"params": json.dumps(params), "cpu_milli_maximum": "2", "step": "preview"}
        preview = client.post(path, sent).content.decode()
        assert "params.properties.steps.maximum" in preview and "cpu_milli.maximum" in preview
        assert "The form as it will be" in preview and "From 1 to 5,000." in preview
        sent |= {"step": "save", "digest": digest(preview), "reason": "Smaller."}
        assert client.post(path, sent).status_code == 302
        version = newest_version(cast.member, "our-training")
        assert version.spec["cpu_milli"]["maximum"] == 2_000
        assert version.spec["params"]["properties"]["steps"]["maximum"] == 5_000
        diff = client.get("/templates/our-training/versions?from=1&to=2").content.decode()
        assert "cpu_milli.maximum" in diff and "16000" in diff
        assert client.get("/templates/our-training/versions?from=1&to=7").status_code == 404

    @pytest.mark.parametrize(
        ("field", "text", "said"),
        [
            ("params", "{", "not JSON"),
            ("params", '{"a": "\\ud800"}', "surrogate"),
            ("params", '{"type": "object", "properties": {}}', "params.properties.steps"),
            ("params", "[" * 100_000, "levels"),
            ("cpu_milli_maximum", "64 cores", "not an amount"),
            ("cpu_milli_minimum", "15", "not in this order"),
            ("members_maximum", "1000000000000", "whole number"),
            ("title_en", "\u202eevil", "not allowed here"),
        ],
    )
    def test_bad_input_stands_beside_its_field_and_stores_nothing(self, cast, as_user, own, field, text, said):
        client = as_user(cast.owner)
        path = "/templates/our-training/edit"
        sent = fields(client.get(path).content.decode()) | {field: text, "step": "preview"}
        answer = client.post(path, sent)
        assert answer.status_code == 422 and said in answer.content.decode()
        assert own.versions.count() == 1

    def test_a_form_that_is_out_of_date_saves_nothing(self, cast, as_user, own):
        client = as_user(cast.owner)
        path = "/templates/our-training/edit"
        sent = fields(client.get(path).content.decode()) | {"title_en": "Mine", "step": "preview"}
        preview = client.post(path, sent).content.decode()
        self.publish(cast, own, title={"en": "Theirs"})
        sent |= {"step": "save", "digest": digest(preview), "reason": "Mine is better."}
        assert client.post(path, sent).status_code == 409
        assert newest_version(cast.member, "our-training").spec["title"] == {"en": "Theirs"}


class TestRetire:
    def test_drafts_are_refused_and_the_page_stays(self, cast, as_user, own):
        client = as_user(cast.owner)
        page = client.get("/templates/our-training/retire").content.decode()
        assert "No job of it waits or runs." in page
        sent = {"step": "save", "digest": digest(page), "reason": "Superseded."}
        assert client.post("/templates/our-training/retire", sent).status_code == 302
        member = as_user(cast.member)
        for path in ("/templates/our-training/new", "/templates/our-training/preview"):
            answer = member.post(path, {"project": str(cast.alpha.pk)})
            assert answer.status_code == 409 and "retired" in answer.content.decode(), path
        assert "Retired" in member.get("/templates/our-training").content.decode()
        assert "our-training" not in member.get("/templates").content.decode()
        assert "our-training" in member.get("/templates?retired=1").content.decode()
        assert AuditEvent.objects.get(verb="template.retired").note == "Superseded."

    def test_it_can_be_restored(self, cast, as_user, own):
        retire_template(actor=cast.owner, template=own, now=NOW)
        client = as_user(cast.owner)
        page = client.get("/templates/our-training/restore").content.decode()
        sent = {"step": "save", "digest": digest(page), "reason": "Needed again."}
        assert client.post("/templates/our-training/restore", sent).status_code == 302
        assert newest_version(cast.member, "our-training").template == own
