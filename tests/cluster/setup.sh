#!/usr/bin/env bash
# A SLURM cluster of one node on this machine, for tests: Debian's packages, two CPUs, no database, no systemd.
# Needs root and apt-get. teardown.sh stops it; both may be called twice.
set -euo pipefail
CONF=/etc/slurm/slurm.conf
MARK="# written by tests/cluster/setup.sh"
STATE=$(cd "$(dirname "$0")/../.." && pwd)/build/cluster

refuse() { echo "error: $1" >&2; exit 1; }
[ "$(id -u)" = 0 ] || refuse "the test cluster needs root"
if [ -e "$CONF" ] && ! grep -qF "$MARK" "$CONF"; then
    refuse "$CONF is not of this script: there is a SLURM here already; set LMC_CLUSTER=1 to test with that one"
fi
if ! { command -v slurmctld && command -v slurmd && command -v munged && command -v sbatch; } >/dev/null; then
    command -v apt-get >/dev/null || refuse "no SLURM here, and no apt-get to install it"
    apt-get update -qq
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends slurm-wlm munge >/dev/null
fi
"$(dirname "$0")/teardown.sh" --stop

host=$(hostname -s)
memory=$(awk '/MemTotal/ {print int($2 / 1024)}' /proc/meminfo)
cpus=$(nproc)
mkdir -p "$STATE/state" "$STATE/spool" "$STATE/log" /etc/slurm
cat >"$CONF" <<END
$MARK
ClusterName=lmc
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
StateSaveLocation=$STATE/state
SlurmdSpoolDir=$STATE/spool
SlurmctldLogFile=$STATE/log/slurmctld.log
SlurmdLogFile=$STATE/log/slurmd.log
SlurmctldPidFile=$STATE/slurmctld.pid
SlurmdPidFile=$STATE/slurmd.pid
# no cgroups: processes are followed through /proc, and a job that takes more memory than it asked for is ended
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=5
JobAcctGatherParams=UsePss,OverMemoryKill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
# no database: squeue shows what became of a job for as long as MinJobAge
AccountingStorageType=accounting_storage/none
JobCompType=jobcomp/none
MinJobAge=600
EnforcePartLimits=ALL
ReturnToService=2
KillWait=5
SchedulerParameters=batch_sched_delay=0,sched_interval=5,sched_min_interval=0
NodeName=$host NodeAddr=127.0.0.1 CPUs=$((cpus < 2 ? cpus : 2)) RealMemory=$((memory * 9 / 10)) State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=NO
END

if ! munge -n >/dev/null 2>&1; then
    mkdir -p /run/munge
    chown munge: /run/munge
    [ -s /etc/munge/munge.key ] || { head -c 128 /dev/urandom | install -o munge -m 400 /dev/stdin /etc/munge/munge.key; }
    runuser -u munge -- munged || refuse "munged does not start"
    ln -s /run/munge/munged.pid "$STATE/munged.pid"
fi
slurmctld
slurmd
for _ in $(seq 60); do
    [ "$(sinfo --noheader --format=%T 2>/dev/null)" = idle ] && { sinfo; exit 0; }
    sleep 0.5
done
tail -n 20 "$STATE"/log/*.log >&2
refuse "the node is not idle after 30 s; the logs are in $STATE/log"
