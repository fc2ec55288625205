"""python -m book build, by the name that it had."""

import runpy
import sys

if __name__ == "__main__":
    sys.argv.insert(1, "build")
    runpy.run_module("book", run_name="__main__", alter_sys=True)
