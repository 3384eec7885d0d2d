"""Make a personal API token for a user and print it, this once."""

from django.core.management.base import BaseCommand, CommandError, CommandParser

from portal.lib.clock import utc_now
from portal.lib.errors import DomainError
from tenants.models import User
from tenants.services.create_token import DAYS, MOST_DAYS, create_token


class Command(BaseCommand):
    """`manage.py create-token USER`."""

    help = __doc__
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="user name")
        parser.add_argument("--name", default="command line", help="what its owner will know it by")
        parser.add_argument("--days", type=int, default=DAYS, help=f"how long it works, at most {MOST_DAYS}")
        parser.add_argument("--read-only", action="store_true", help="it may change nothing")

    def handle(self, *args: object, user: str, name: str, days: int, read_only: bool, **options: object) -> None:
        """The token alone on stdout, a sentence on stderr."""
        owner = User.objects.filter(username=user, is_active=True).first()
        if owner is None:
            raise CommandError(f"There is no active user {user}.")
        try:
            token, clear = create_token(user=owner, name=name, days=days, read_only=read_only, now=utc_now())
        except DomainError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(clear)
        self.stderr.write(f"Works until {token.expiry:%Y-%m-%d}; it is not shown again.")
