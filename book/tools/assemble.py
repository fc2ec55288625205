"""python -m book assemble, by the name that it had."""

import runpy
import sys

if __name__ == "__main__":
    sys.argv.insert(1, "assemble")
    runpy.run_module("book", run_name="__main__", alter_sys=True)
