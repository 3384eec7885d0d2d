"""`manage.py reseal-credentials`: after a new key was put first into PORTAL_VAULT_KEY."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from portal.lib.clock import utc_now
from resources.services.reseal_credentials import reseal_credentials
from resources.vault import CannotOpen


class Command(BaseCommand):
    """Credentials of clusters under the newest key."""

    help = "Seal every stored credential of a cluster with the newest key; older keys may then be taken away."

    def handle(self, *args: Any, **options: Any) -> None:
        """Says how many there were."""
        try:
            count = reseal_credentials(now=utc_now())
        except CannotOpen as error:
            raise CommandError("A credential was sealed with a key that PORTAL_VAULT_KEY does not hold.") from error
        self.stdout.write(f"sealed anew: {count}")
