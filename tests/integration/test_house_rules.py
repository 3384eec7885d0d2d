"""The rules of the house, where a rule can be checked: caps, services, task names, locks, coverage of requirements."""

import ast
import re
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
APPS = ("tenants", "resources", "jobs", "metering")
MODULE_CAP, FUNCTION_CAP = 400, 60


def modules() -> list[Path]:
    """Every Python module of ours, tests and migrations left out."""
    found = [
        p
        for app in (*APPS, "portal", "controlplane")
        for p in (ROOT / app).rglob("*.py")
        if "migrations" not in p.parts
    ]
    return sorted(found)


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(text_of(path))


def functions(node: ast.AST) -> Iterator[ast.FunctionDef]:
    """At any depth; expressions, which hold none, are not walked."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
            if isinstance(child, ast.FunctionDef):
                yield child
            yield from functions(child)


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_no_module_is_longer_than_the_cap():
    """Tests and their data too."""
    every = [*modules(), *sorted((ROOT / "tests").rglob("*.py"))]
    assert [named(p) for p in every if len(text_of(p).splitlines()) > MODULE_CAP] == []


def test_no_function_is_longer_than_the_cap():
    long = [
        f"{named(p)}:{f.name} {(f.end_lineno or 0) - f.lineno + 1}"
        for p in modules()
        for f in functions(tree_of(p))
        if (f.end_lineno or 0) - f.lineno + 1 > FUNCTION_CAP
    ]
    assert long == []


def service_modules() -> list[Path]:
    return [p for app in APPS for p in sorted((ROOT / app / "services").glob("*.py")) if p.stem != "__init__"]


def test_a_service_is_one_public_keyword_only_function_of_the_modules_name():
    for path in service_modules():
        body = tree_of(path).body
        public = [n for n in body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")]
        assert [f.name for f in public] == [path.stem], named(path)
        arguments = public[0].args
        assert not arguments.args and not arguments.posonlyargs and not arguments.vararg, named(path)


def test_a_service_never_reads_the_clock():
    clock = re.compile(r"utc_now\(|timezone\.now\(|datetime\.now\(")
    assert [named(path) for path in service_modules() if clock.search(text_of(path))] == []


def test_only_transition_writes_the_state_of_a_job():
    """`.update(state=…)` or `.state = …` on jobs anywhere else would be a second writer."""
    writers = []
    for path in modules():
        text = text_of(path)
        if re.search(r"Job\.objects[^\n]*update\([^)]*\bstate=|\bjob\.state = ", text):
            writers.append(named(path))
    assert writers == []


def test_every_enqueued_task_has_a_name_that_some_task_is_registered_under():
    text = "\n".join(text_of(p) for p in modules())
    registered = set(re.findall(r'@shared_task\(name="([\w.]+)"', text))
    sent = set(re.findall(r'enqueue\(\s*"([\w.]+)"', text)) | set(re.findall(r'"task": "([\w.]+)"', text))
    assert sent and sent <= registered


def test_every_service_view_task_and_selector_has_a_docstring():
    bare = [
        f"{named(p)}:{f.name}"
        for p in modules()
        if not {"admin", "api"} & set(p.parts)
        for f in tree_of(p).body
        if isinstance(f, ast.FunctionDef | ast.ClassDef) and not f.name.startswith("_") and not ast.get_docstring(f)
    ]
    assert bare == []


def test_no_lock_holds_an_address():
    for lock in ROOT.glob("requirements*"):
        assert not re.search(r"://|find-links|index-url", lock.read_text(encoding="utf-8")), lock.name
    kept = subprocess.run(["git", "ls-files", "*uv.lock", "*pylock*.toml"], cwd=ROOT, capture_output=True, check=True)
    assert kept.stdout == b""


def test_nothing_in_the_tree_names_a_path_of_this_machine():
    found = subprocess.run(
        ["git", "grep", "-nIF", f"{ROOT}/", "--", "."], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert found.stdout == ""


def test_every_requirement_has_a_row_in_the_coverage_table():
    text = (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8")
    rows = set(re.findall(r"^\| R-(\d\d) \|", text, flags=re.MULTILINE))
    assert rows == {f"{number:02}" for number in range(1, 51)}


def test_every_adr_has_its_four_parts():
    for path in sorted((ROOT / "docs" / "adr").glob("*.md")):
        text = path.read_text(encoding="utf-8")
        assert all(f"**{part}.**" in text for part in ("Context", "Decision", "Consequences", "Rejected")), path.name
