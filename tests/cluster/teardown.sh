#!/usr/bin/env bash
# Stop the cluster of setup.sh and remove its files; the packages stay. --stop only stops it.
set -euo pipefail
CONF=/etc/slurm/slurm.conf
MARK="# written by tests/cluster/setup.sh"

[ "$(id -u)" = 0 ] || { echo "error: the test cluster needs root" >&2; exit 1; }
grep -qsF "$MARK" "$CONF" || exit 0  # not ours, or none
STATE=$(sed -n 's|^StateSaveLocation=\(.*\)/state$|\1|p' "$CONF")  # of the checkout that made it
scancel --state=RUNNING,PENDING --user=root 2>/dev/null || true
for name in slurmd slurmctld munged; do
    pid=$(cat "$STATE/$name.pid" 2>/dev/null) || continue
    [ "$(cat "/proc/$pid/comm" 2>/dev/null)" = "$name" ] || continue
    kill "$pid" 2>/dev/null || true
    for _ in $(seq 50); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    kill -9 "$pid" 2>/dev/null || true
done
rm -rf "$STATE"
[ "${1:-}" = --stop ] || rm -f "$CONF"
