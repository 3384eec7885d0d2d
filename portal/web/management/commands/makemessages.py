"""`manage.py makemessages`, which also finds the strings that pure rooms mark with N_()."""

from django.core.management.commands import makemessages


class Command(makemessages.Command):
    """Django's own, with one more keyword and without places: they would change with every line."""

    xgettext_options = [*makemessages.Command.xgettext_options, "--keyword=N_", "--no-location"]
    msgmerge_options = [*makemessages.Command.msgmerge_options, "--no-fuzzy-matching"]
