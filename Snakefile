# The book as a graph: training runs → executed notebooks → pages. `make book` runs it; see book/tools/run/build.py.
#
# An executed chapter carries the checksum of all that it depends on, see targets.py in book/tools/run; a build names
# the rules of those that are stale. A stale chapter depends on its training runs, see listing.py. Runs are identified by
# digest, so file times are ignored. Runs start before chapters, the longest first; one that needs another's file starts
# as soon as that exists. Each job's needs are in its resources; on a cluster runs and chapters are jobs, and the pages
# are built where the build was started.
import itertools
import sys
from pathlib import Path

sys.path.insert(0, workflow.basedir)
from book.tools.read import profiles
from book.tools.run import cluster, listing, progress, variants
from book.tools.run.targets import Targets

PROFILE = config["profile"]
OUT = config["out"]
VARIANTS = config.get("seeds", "").split(",")  # of the book: seeds from a commit, settings; see variants.py
TARGETS = {variant: Targets(PROFILE, Path(OUT), variant) for variant in VARIANTS}
PAGES = TARGETS[VARIANTS[0]]  # the book has one variant, its own
OPTIONS = {variant: f"--profile {PROFILE} --quiet" + (f" --seeds {variant}" if variant else "") for variant in VARIANTS}
EXPECTED = progress.expected(PROFILE)
BUDGETS = {chapter: profiles.settings(chapter, PROFILE).budget_s for chapter in PAGES.executed}
SHARE = 0.5 if config.get("executor", "local") == "local" else 1  # a profile's memory is that of two chapters here
STARTER = 0 if config.get("executor", "local") == "local" else cluster.STARTER_MIB
MEMORY = cluster.megabytes(1024 * SHARE * profiles.profile(PROFILE).memory_gib + STARTER)
LISTED = {variant: listing.jobs(PROFILE, variant) for variant in VARIANTS}
RUNS = {digest: (run, variant) for variant, jobs in LISTED.items() for digest, run in jobs.items()}
PATHS = {run.path for run, _ in RUNS.values()}
NEEDED = {
    (variant, chapter): [run.path for run in LISTED[variant].values() if chapter in run.chapters]
    for variant, found in TARGETS.items()
    for chapter in found.stale()
}
ON_GPU = {  # chapters that follow networks for which a CPU is too slow
    (variant, chapter)
    for variant, jobs in LISTED.items()
    for run in jobs.values()
    if run.gpu
    for chapter in run.chapters
}
# Large pages: see LARGE_PAGES in forkserver.py; in a build here it is that process that forks runs and has them.
LARGE_PAGES = "GLIBC_TUNABLES=${{GLIBC_TUNABLES:-glibc.malloc.hugetlb=1}} "
FIRST, NEXT = 10**6, 10**5  # the priority of runs, and of a variant before the next


localrules:
    book,
    executed,
    pages,


rule book:
    input:
        str(PAGES.built),


rule executed:
    input:
        [str(path) for found in TARGETS.values() for path in found.executed.values()],


for RUN, VARIANT in RUNS.values():

    rule:
        name:
            f"run_{RUN.digest}"
        input:
            [ancient(path) for path in RUN.needs if path in PATHS and not RUN.done],
        output:
            RUN.path,
        params:
            chapter=RUN.chapters[0],
            digest=RUN.digest,
            options=OPTIONS[VARIANT],
        priority: FIRST * (2 if RUN.needs else 1) + round(RUN.seconds)
        threads: max(RUN.cores, variants.setting(VARIANT).threads)
        resources:
            mem_mb=cluster.megabytes(RUN.memory_mib + STARTER),
            runtime=cluster.minutes(60 * RUN.minutes, cluster.RUN_SLACK),
            **({"gpu": 1} if RUN.gpu else {}),
        shell:
            LARGE_PAGES + "exec {sys.executable:q} -m book.tools.runs {params.chapter} --run {params.digest} {params.options}"


for VARIANT, CHAPTER in itertools.product(VARIANTS, PAGES.executed):

    rule:
        name:
            variants.rule(CHAPTER, VARIANT)
        input:
            [ancient(path) for path in NEEDED.get((VARIANT, CHAPTER), [])],
        output:
            str(TARGETS[VARIANT].executed[CHAPTER]),
        params:
            chapter=CHAPTER,
            options=OPTIONS[VARIANT],
        priority: 1 + round(10 * EXPECTED[CHAPTER]) - NEXT * VARIANTS.index(VARIANT)
        threads: variants.setting(VARIANT).threads
        resources:
            mem_mb=MEMORY,
            runtime=cluster.minutes(BUDGETS[CHAPTER], cluster.SLACK),
            **({"gpu": 1} if (VARIANT, CHAPTER) in ON_GPU else {}),
        shell:
            "exec {sys.executable:q} -m book.tools.execute {params.chapter} --output {output:q} {params.options}"


rule pages:
    input:
        rules.executed.input,
    output:
        update(str(PAGES.built)),  # which stays, until the pages are there
    shell:
        "exec {sys.executable:q} -m book.tools.assemble --profile {PROFILE} --out {OUT:q}"
