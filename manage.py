#!/usr/bin/env python
"""Django's command line, with `up` (the whole portal on one machine) beside it."""

import os
import sys

from portal.embedded import attach, up


def main() -> int:
    """Run the command; every one but `up` is Django's."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    if sys.argv[1:2] == ["up"]:
        return up.main(sys.argv[2:])
    return attach.main(sys.argv)


if __name__ == "__main__":
    sys.exit(main())
