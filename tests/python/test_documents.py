"""Runs the Python of README and the guides, and the notebook, cell by cell."""

import contextlib
import io
import json
import os
import re
import unittest

from _program import SOURCE


def run(blocks, name):
    """Runs blocks in one namespace; what they print."""
    space, out = {"__name__": "__main__"}, io.StringIO()
    with contextlib.redirect_stdout(out):
        for number, block in enumerate(blocks):
            exec(compile(block, f"{name}, block {number}", "exec"), space)
    return out.getvalue()


class Documents(unittest.TestCase):
    def setUp(self):
        os.chdir(SOURCE)

    def test_guides(self):
        found = 0
        for guide in [SOURCE / "README.md", *sorted((SOURCE / "docs").rglob("*.md"))]:
            blocks = re.findall(r"```python\n(.*?)```", guide.read_text(), re.S)
            found += len(blocks)
            with self.subTest(guide=guide.name):
                run(blocks, guide.name)
        self.assertGreater(found, 2)

    def test_notebook(self):
        notebook = json.loads((SOURCE / "examples" / "decide.ipynb").read_text())
        cells = ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]
        text = run(cells, "decide.ipynb")
        self.assertIn("Communication has 4 ms of the 20 ms on the critical path", text)
        self.assertRegex(text, r"64 instead of 32 accelerators: \d\.\d\dx sooner")
        self.assertTrue(all(cell["outputs"] == [] for cell in notebook["cells"] if cell["cell_type"] == "code"), "kept without outputs")


if __name__ == "__main__":
    unittest.main()
