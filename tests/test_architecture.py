"""The layout of the code: imports go downwards, files and functions stay short."""

import ast
import os
import subprocess
import sys
from pathlib import Path

import everystump
from everystump.datasets import make_twonorm

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
LINT_IMPORTS = "from importlinter.cli import lint_imports_command; lint_imports_command()"
MAX_FILE_LINES = 450
MAX_FUNCTION_LINES = 60


def relative(path):
    return str(path.relative_to(ROOT))


def functions(path):
    """Yield the name and the number of lines of each function, without its docstring."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            documented = ast.get_docstring(node, clean=False) is not None
            docstring = node.body[0].end_lineno - node.body[0].lineno + 1 if documented else 0
            yield node.name, node.end_lineno - node.lineno + 1 - docstring


def test_imports_go_downwards_only():
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    run = subprocess.run(
        [sys.executable, "-c", LINT_IMPORTS, "--no-cache"],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr


def test_files_are_short():
    lines = {relative(path): path.read_text("utf-8").count("\n") for path in SOURCES}
    assert lines and not {path: n for path, n in lines.items() if n > MAX_FILE_LINES}


def test_functions_are_short():
    lines = {f"{relative(path)}: {name}": n for path in SOURCES for name, n in functions(path)}
    assert lines and not {name: n for name, n in lines.items() if n > MAX_FUNCTION_LINES}


def packages_called_by(call):
    """Return the packages and modules of everystump whose functions run during a call."""
    package = str(Path(everystump.__file__).parent) + os.sep
    found = set()

    def record(frame, event, _):
        path = frame.f_code.co_filename
        if event == "call" and path.startswith(package):
            found.add(path.removeprefix(package).split(os.sep)[0].removesuffix(".py"))

    sys.setprofile(record)
    try:
        call()
    finally:
        sys.setprofile(None)
    return sorted(found)


def test_fit_and_predict_call_three_packages():
    """The estimators, the validation of tables, and the core."""
    X, y = make_twonorm(100, random_state=0)
    model = everystump.StumpSVC(n_jobs=1)
    assert packages_called_by(lambda: model.fit(X, y)) == ["_core", "_tables", "estimators"]
    assert packages_called_by(lambda: model.predict(X)) == ["_core", "_tables", "estimators"]
