"""Pages that change nothing say how it is changed; a name that is the same in both languages stands once."""

from tests import builders as make


def test_a_page_that_only_reads_says_how_it_is_changed(cast, as_user):
    page = as_user(cast.member).get("/data").content.decode()
    assert "This page only reads." in page
    assert "Whoever runs the installation enters data sources in its database" in page


def test_a_class_is_named_once_where_both_languages_agree(cast, as_user):
    same = make.make_class("gpu-x", "GPU")
    same.name = {"en": "X 80 GB", "zh-hans": "X 80 GB"}
    same.save()
    page = as_user(cast.member).get("/classes/gpu-x").content.decode()
    names = page[page.index("<dt>Names</dt>") :].partition("</dd>")[0]
    assert names.count("X 80 GB") == 1 and "·" not in names
