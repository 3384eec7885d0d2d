"""Both languages are complete: every string in the source has its Chinese, and the catalogue that is shipped is new."""

import os
import shutil

import pytest
from django.core.management import call_command

needs_gettext = pytest.mark.skipif(
    shutil.which("xgettext") is None and not os.environ.get("PORTAL_REQUIRE_BROWSER"),
    reason="GNU gettext is not installed (apt install gettext)",
)


@needs_gettext
def test_translations_are_complete_and_compiled():
    call_command("check_translations")
