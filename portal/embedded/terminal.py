"""What the person at the terminal sees."""

import sys


def tell(line: str) -> None:
    """A line of the answer, shown at once even through a pipe."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def warn(line: str) -> None:
    """A line about trouble or progress, beside the answer."""
    sys.stderr.write(f"armillary: {line}\n")
    sys.stderr.flush()
