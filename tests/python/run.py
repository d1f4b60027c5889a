"""run.py FILE: the tests of one file. Exit code 77 where none of them could run, with the reason."""

import importlib
import pathlib
import sys
import unittest

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
