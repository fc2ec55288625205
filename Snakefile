# The book as a graph: training runs → executed notebooks → pages. `make book` runs it; see book/tools/run/build.py.
#
# A build names the products that are stale, by the checksums of all that they depend on, see targets.py in
# book/tools/run; what is not named is no input here, hence all of this graph runs. A chapter depends on its missing
# training runs, see listing.py. Runs start before chapters, the longest first; one that needs another's file starts as
# soon as that exists. Each job's needs are in its resources; on a cluster runs and chapters are jobs, and the pages are
# built where the build was started.
import sys
from pathlib import Path

sys.path.insert(0, workflow.basedir)
from book.tools.read import profiles
from book.tools.run import cluster, listing, progress, variants

PROFILE = config["profile"]
OUT = config["out"]
HERE = config.get("executor", "local") == "local"
EXECUTED = f"{workflow.basedir}/build/executed"
# Variants of the book by their folders: seeds from a commit, settings; see variants.py
VARIANTS = {variants.folder(PROFILE, variant): variant for variant in config.get("seeds", "").split(",")}
LISTED = {variant: listing.jobs(PROFILE, variant) for variant in VARIANTS.values()}
RUNS = {digest: run for jobs in LISTED.values() for digest, run in jobs.items()}
VARIANT = {digest: variant for variant, jobs in LISTED.items() for digest in jobs}
PATHS = {run.path for run in RUNS.values()}
EXPECTED = progress.expected(PROFILE)
MEMORY = 1024 * profiles.profile(PROFILE).memory_gib * (0.5 if HERE else 1)  # a profile's is that of two chapters here
STARTER = 0 if HERE else cluster.STARTER_MIB
# Large pages: see LARGE_PAGES in forkserver.py; in a build here it is that process that forks runs and has them.
LARGE_PAGES = "GLIBC_TUNABLES=${{GLIBC_TUNABLES:-glibc.malloc.hugetlb=1}} "
FIRST, NEXT = 10**6, 10**5  # the priority of runs, and of a variant before the next


def options(variant):
    return f"--profile {PROFILE} --quiet" + (f" --seeds {variant}" if variant else "")


def trained(job):
    """The training runs of a chapter."""
    return [run for run in LISTED[VARIANTS[job.folder]].values() if job.chapter in run.chapters]


localrules:
    pages,


rule run:
    input:
        lambda job: [path for path in RUNS[job.digest].needs if path in PATHS and not Path(path).exists()],
    output:
        str(Path(workflow.basedir) / listing.folder() / "{digest}.npz"),
    params:
        chapter=lambda job: RUNS[job.digest].chapters[0],
        options=lambda job: options(VARIANT[job.digest]),
    priority: lambda job: FIRST * (2 if RUNS[job.digest].needs else 1) + round(RUNS[job.digest].seconds)
    threads: lambda job: max(RUNS[job.digest].cores, variants.setting(VARIANT[job.digest]).threads)
    resources:
        mem_mb=lambda job: cluster.megabytes(RUNS[job.digest].memory_mib + STARTER),
        runtime=lambda job: cluster.minutes(60 * RUNS[job.digest].minutes, cluster.RUN_SLACK),
        gpu=lambda job: 1 if RUNS[job.digest].gpu else None,
    shell:
        LARGE_PAGES + "exec {sys.executable:q} -m book runs {params.chapter} --run {wildcards.digest} {params.options}"


rule chapter:
    input:
        lambda job: [run.path for run in trained(job) if not run.done],
    output:
        f"{EXECUTED}/{{folder}}/{{chapter}}.ipynb",
    params:
        options=lambda job: options(VARIANTS[job.folder]),
    priority: lambda job: 1 + round(10 * EXPECTED[job.chapter]) - NEXT * list(VARIANTS).index(job.folder)
    threads: lambda job: variants.setting(VARIANTS[job.folder]).threads
    resources:
        mem_mb=cluster.megabytes(MEMORY + STARTER),
        runtime=lambda job: cluster.minutes(profiles.settings(job.chapter, PROFILE).budget_s, cluster.SLACK),
        gpu=lambda job: 1 if any(run.gpu for run in trained(job)) else None,  # networks for which a CPU is too slow
    shell:
        "exec {sys.executable:q} -m book execute {wildcards.chapter} --output {output:q} {params.options}"


rule pages:
    input:
        [f"{EXECUTED}/{PROFILE}/{chapter}.ipynb" for chapter in config.get("stale", "").split(",") if chapter],
    output:
        update(f"{OUT}/_build/html/.built"),  # which stays, until the pages are there
    shell:
        "exec {sys.executable:q} -m book assemble --profile {PROFILE} --out {OUT:q}"
