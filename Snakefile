# The book as a graph: chapter sources → executed notebooks → pages. `make book` runs it; see book/tools/build.py.
#
# A chapter depends on a stamp that holds the checksums of all that it uses (book/tools/chapters.py). The stamp is
# rewritten only when one of them changes, so that times in the graph follow contents and not checkouts.
import sys
from pathlib import Path

sys.path.insert(0, workflow.basedir)
from book.tools import chapters

PROFILE = config["profile"]
OUT = config["out"]
CHAPTERS = chapters.chapters()
STAMPS = Path("build/stamps") / PROFILE

for chapter in CHAPTERS:
    chapters.stamp(STAMPS / f"{chapter}.json", chapters.digest(chapter, PROFILE))
BOOK_STAMP = chapters.stamp(Path(OUT).with_suffix(".json"), chapters.book_digest(PROFILE))


rule book:
    input:
        f"{OUT}/_build/html/.built",


rule executed:
    input:
        expand("build/executed/{profile}/{chapter}.ipynb", profile=PROFILE, chapter=CHAPTERS),


rule chapter:
    input:
        f"{STAMPS}/{{chapter}}.json",
    output:
        f"build/executed/{PROFILE}/{{chapter}}.ipynb",
    threads: 1
    shell:
        "{sys.executable} -m book.tools.execute {wildcards.chapter} --profile {PROFILE} --output {output}"


rule pages:
    input:
        rules.executed.input,
        BOOK_STAMP,
    output:
        f"{OUT}/_build/html/.built",
    shell:
        "{sys.executable} -m book.tools.assemble --profile {PROFILE} --out {OUT:q}"
