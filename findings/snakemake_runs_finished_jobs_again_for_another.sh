#!/usr/bin/env bash
# One would guess: a and b were made from the file `shared`, which was deleted since; Snakemake calls both up to date. If c is asked for,
#   too, it makes `shared` and c: with `--rerun-triggers params` neither times nor inputs count, and no parameter has changed.
# What happens: it makes `shared`, c, and a and b again, because of "input files updated by another job", a reason that no choice of
#   triggers turns off; that the file comes back byte for byte does not help.
# Versions: snakemake 9.27.1
# Why it matters: one missing download, simulation or trained network that many jobs share makes a request for one new result run all
#   the old ones again, hours of work that the same command without the new one calls up to date.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q snakemake==9.27.1
cd "$folder"
cat >Snakefile <<'SNAKEFILE'
rule shared:
    output: "shared"
    shell: "echo the same > {output}; echo {output} >> ran"

rule result:
    input: "shared"
    output: "{name,[abc]}"
    shell: "cp {input} {output}; echo {output} >> ran"
SNAKEFILE

ran() { # the jobs that run to make some files
    : >ran
    "$folder/venv/bin/snakemake" --cores 1 --quiet all --rerun-triggers params -- "$@" 2>/dev/null
    sort ran | xargs
}

first=$(ran a b)
rm shared
again=$(ran a b)
more=$(ran a b c)
echo "for a and b: $first; the same without the shared file: ${again:-nothing}; for a, b and c: $more"
[[ $first == "a b shared" && -z $again && $more == "a b c shared" ]]
