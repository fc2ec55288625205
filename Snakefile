# The book as a graph: chapter sources → executed notebooks → pages. `make book` runs it; see book/tools/build.py.
#
# A chapter depends on a stamp that holds the checksums of all that it uses, see book/tools/chapters.py.
import sys
from pathlib import Path

sys.path.insert(0, workflow.basedir)
from book.tools import chapters

PROFILE = config["profile"]
OUT = config["out"]
CHAPTER_STAMPS, BOOK_STAMP = chapters.stamps(PROFILE, Path(OUT))


rule book:
    input:
        f"{OUT}/_build/html/.built",


rule executed:
    input:
        expand("build/executed/{profile}/{chapter}.ipynb", profile=PROFILE, chapter=CHAPTER_STAMPS),


rule chapter:
    input:
        lambda wildcards: str(CHAPTER_STAMPS[wildcards.chapter]),
    output:
        f"build/executed/{PROFILE}/{{chapter}}.ipynb",
    threads: 1
    shell:
        "{sys.executable:q} -m book.tools.execute {wildcards.chapter} --profile {PROFILE} --output {output:q}"


rule pages:
    input:
        rules.executed.input,
        str(BOOK_STAMP),
    output:
        f"{OUT}/_build/html/.built",
    shell:
        "{sys.executable:q} -m book.tools.assemble --profile {PROFILE} --out {OUT:q}"
