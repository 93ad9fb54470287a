#!/bin/sh
# First process inside the outer namespace: mounts the job's folders, starts the first executor beside the entry (both
# need their interpreter's start-up time, and a job waits for the slower one only), then becomes the entry.
# Arguments: language, workspace bytes, workspace inodes, limit of processes or 0, protection of the entry's arguments.
set -eu
language=$1 workspace_bytes=$2 workspace_inodes=$3
export SKILLCELL_NPROC="$4"
shift 4

mount -t tmpfs -o "nosuid,nodev,mode=0755,size=$workspace_bytes,nr_inodes=$workspace_inodes" workspace /workspace
mkdir /workspace/out
mkfifo /run/stdin /run/stdout /run/stderr /run/to-executor /run/from-executor

# Opened for both directions first, so that no later open waits for its peer; the entry closes these five.
exec 5<>/run/stdin 6<>/run/stdout 7<>/run/stderr 8<>/run/to-executor 9<>/run/from-executor
/bin/sh /opt/skillcell/launch/start-executor.sh "$language" \
  </run/stdin >/run/stdout 2>/run/stderr 3</run/to-executor 4>/run/from-executor \
  5<&- 6<&- 7<&- 8<&- 9<&- &
export SKILLCELL_EXECUTOR_PID=$!
exec /opt/skillcell/bin/node "$@"
