"""`./dev bench NAME` and `./dev gate NAME`: run one module of this folder."""

import importlib
import sys
from pathlib import Path

from portal.embedded.errors import EmbeddedError
from portal.embedded.terminal import tell, warn
from tests.bench.report import NotRun, report

FOLDER = Path(__file__).parent


def main(kind: str, name: str | None) -> int:
    """Run `main()` of {kind}_{name}; 2 with the list of names when there is none of that name."""
    names = sorted(file.stem.removeprefix(f"{kind}_").replace("_", "-") for file in FOLDER.glob(f"{kind}_*.py"))
    if name not in names:
        warn(f"there is no {kind} {name!r}" if name else f"./dev {kind} NAME, where NAME is one of:")
        tell("\n".join(names) or "(none yet)")
        return 2
    module = importlib.import_module(f"tests.bench.{kind}_{name.replace('-', '_')}")
    try:
        return int(module.main())
    except (NotRun, EmbeddedError) as reason:
        return report([], [str(reason)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else None))
