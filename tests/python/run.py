"""run.py FILE: the tests of one file. Exit code 77 where none of them could run, with the reason.

Runs in the environment of `make python-packages` where there is one.
"""

import importlib
import os
import pathlib
import sys
import unittest

ENVIRONMENT = pathlib.Path(__file__).resolve().parents[2] / "build" / "python-packages"
if (ENVIRONMENT / "complete").exists() and pathlib.Path(sys.prefix) != ENVIRONMENT:
    os.environ["PATH"] = f"{ENVIRONMENT / 'bin'}:{os.environ.get('PATH', '')}"
    os.execv(ENVIRONMENT / "bin" / "python3", ["python3", *sys.argv])

sys.path.insert(0, str(pathlib.Path(__file__).parent))
try:
    import headroom  # noqa: F401
except ImportError as error:
    print(f"skipped: the Python package was not built ({error}); python3-dev is needed")
    sys.exit(77)
tests = unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(pathlib.Path(sys.argv[1]).stem))
result = unittest.TextTestRunner(verbosity=1).run(tests)
if not result.wasSuccessful():
    sys.exit(1)
for test, reason in result.skipped:
    print(f"skipped: {test}: {reason}")
sys.exit(77 if len(result.skipped) >= result.testsRun else 0)
