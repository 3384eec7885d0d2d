import pytest
from tests.cast import ROLES

@pytest.mark.parametrize("role", ROLES)
def test_every_role_has_a_home(cast, as_user, role):
    r = as_user(cast.person(role)).get("/")
    assert r.status_code == 200, r.content
