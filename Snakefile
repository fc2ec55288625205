# The book as a graph: chapter sources → executed notebooks → pages. `make book` runs it; see book/tools/build.py.
#
# A chapter depends on a stamp that holds the checksums of all that it uses, see book/tools/sources.py. The longest
# chapters start first.
import sys
from pathlib import Path

sys.path.insert(0, workflow.basedir)
from book.tools import progress, sources

PROFILE = config["profile"]
OUT = config["out"]
SEEDS = config.get("seeds", "")  # the commit that a confirmatory run takes its seeds from
STAMPS = sources.stamps(PROFILE, Path(OUT), SEEDS)
OPTIONS = f"--profile {PROFILE} --quiet" + (f" --seeds {SEEDS}" if SEEDS else "")
EXPECTED = progress.expected(PROFILE)


rule book:
    input:
        str(STAMPS.built),


rule executed:
    input:
        [str(path) for path in STAMPS.executed.values()],


for CHAPTER, STAMP in STAMPS.chapters.items():

    rule:
        name:
            f"chapter_{CHAPTER}"
        input:
            str(STAMP),
        output:
            str(STAMPS.executed[CHAPTER]),
        params:
            chapter=CHAPTER,
        priority: 1 + round(10 * EXPECTED[CHAPTER])
        threads: 1
        shell:
            "{sys.executable:q} -m book.tools.execute {params.chapter} --output {output:q} {OPTIONS}"


rule pages:
    input:
        rules.executed.input,
        str(STAMPS.pages),
    output:
        str(STAMPS.built),
    shell:
        "{sys.executable:q} -m book.tools.assemble --profile {PROFILE} --out {OUT:q}"
