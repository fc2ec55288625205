#!/usr/bin/env bash
# One would guess: `--max-jobs-per-timespan 100/30s` delays the hundred-and-first job of 30 seconds; a workflow of one job ends when
#   that job does, whatever the timespan.
# What happens: each time that the scheduler has looked at its jobs it starts a timer of one timespan, to look again, and the process
#   ends only when the last timer has run out: 30 seconds after its work. With `100/1h` it would be an hour.
# Versions: snakemake 9.27.1
# Why it matters: a cluster's profile with a generous limit for each minute or hour leaves every run, of one job or of none that is
#   held back, with its locks released and its output complete, as a process that seems to hang.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q snakemake==9.27.1
cd "$folder"
printf 'rule one:\n    output: "{name}.txt"\n    shell: "date +%%s > {output}"\n' >Snakefile

after() { # seconds from the end of the only job to the end of the process, under a limit of 100 jobs in $1 seconds
    "$folder/venv/bin/snakemake" --cores 1 --quiet all --max-jobs-per-timespan "100/$1s" "in_$1.txt"
    echo $(($(date +%s) - $(cat "in_$1.txt")))
}

short=$(after 1) long=$(after 30)
echo "seconds after the only job: $short with 100 jobs a second, $long with 100 jobs in 30 seconds"
((long >= 29 && long - short >= 15))
