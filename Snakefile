# The book as a graph: training runs → executed notebooks → pages. `make book` runs it; see book/tools/build.py.
#
# A chapter depends on a stamp that holds the checksums of all that it uses, see book/tools/sources.py, and a chapter
# that is stale on its training runs, see book/tools/runs.py. A run's digest says what is in its file, so that its time
# says nothing. Runs start before chapters, the longest first. What a job needs stands in its resources; on a cluster
# runs and chapters are jobs, and the pages are built where the build was started.
import sys
from pathlib import Path

sys.path.insert(0, workflow.basedir)
from book.tools import cluster, profiles, progress, runs, sources

PROFILE = config["profile"]
OUT = config["out"]
SEEDS = config.get("seeds", "")  # the commit that a confirmatory run takes its seeds from
STAMPS = sources.stamps(PROFILE, Path(OUT), SEEDS)
OPTIONS = f"--profile {PROFILE} --quiet" + (f" --seeds {SEEDS}" if SEEDS else "")
EXPECTED = progress.expected(PROFILE)
BUDGETS = {chapter: profiles.settings(chapter, PROFILE).budget_s for chapter in STAMPS.chapters}
SHARE = 0.5 if config.get("executor", "local") == "local" else 1  # a profile's memory is that of two chapters here
MEMORY = cluster.megabytes(1024 * SHARE * profiles.profile(PROFILE).memory_gib)
RUNS = runs.jobs(PROFILE, SEEDS)
NEEDED = {chapter: [run.path for run in RUNS.values() if chapter in run.chapters] for chapter in STAMPS.stale()}
FIRST = 10**6  # the priority of runs


localrules:
    book,
    executed,
    pages,
    trained,


rule book:
    input:
        str(STAMPS.built),


rule executed:
    input:
        [str(path) for path in STAMPS.executed.values()],


rule trained:
    input:
        [ancient(run.path) for run in RUNS.values()],


for RUN in RUNS.values():

    rule:
        name:
            f"run_{RUN.digest}"
        output:
            RUN.path,
        params:
            chapter=RUN.chapters[0],
            digest=RUN.digest,
        priority: FIRST + round(RUN.seconds)
        threads: RUN.cores
        resources:
            mem_mb=cluster.megabytes(RUN.memory_mib),
            runtime=cluster.minutes(60 * RUN.minutes, cluster.RUN_SLACK),
            **({"gpu": 1} if RUN.gpu else {}),
        shell:
            "{sys.executable:q} -m book.tools.runs {params.chapter} --run {params.digest} {OPTIONS}"


for CHAPTER, STAMP in STAMPS.chapters.items():

    rule:
        name:
            f"chapter_{CHAPTER}"
        input:
            str(STAMP),
            [ancient(path) for path in NEEDED.get(CHAPTER, [])],
        output:
            str(STAMPS.executed[CHAPTER]),
        params:
            chapter=CHAPTER,
        priority: 1 + round(10 * EXPECTED[CHAPTER])
        threads: 1
        resources:
            mem_mb=MEMORY,
            runtime=cluster.minutes(BUDGETS[CHAPTER], cluster.SLACK),
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
