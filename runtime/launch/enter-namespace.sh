#!/bin/sh
# First process inside the outer namespace: mounts the folders that user code can write to, starts the first executor beside the entry, then
# becomes the entry. Entry and executor start at the same time, so a job waits only for the slower interpreter.
# Arguments: the first executor's variables and command as a shell reads them, workspace bytes, workspace inodes, bytes of shared memory,
# most processes of user code or 0, then the arguments of the entry.
set -eu
# The first executor starts before the entry can set its umask.
umask 022
executor=$1 workspace_bytes=$2 workspace_inodes=$3 shared_bytes=$4
export SKILLCELL_NPROC="$5"
shift 5

mkfifo /run/status /run/requests /run/stdin /run/stdout /run/stderr /run/to-executor /run/from-executor &
# All folders that user code can write to. Each has a limit of bytes and of files; a tmpfs of bubblewrap cannot have both.
printf '%s 0 0\n' >/run/mounts \
  "workspace /workspace tmpfs nosuid,nodev,mode=0755,size=$workspace_bytes,nr_inodes=$workspace_inodes" \
  'value /value tmpfs nosuid,nodev,mode=0755,size=1m,nr_inodes=16' \
  "tmp /inner/tmp tmpfs nosuid,nodev,mode=0755,size=$workspace_bytes,nr_inodes=$workspace_inodes" \
  "shm /inner/shm tmpfs nosuid,nodev,mode=0755,size=$shared_bytes,nr_inodes=1024"
mount -a -T /run/mounts
wait $!

# Held open in both directions until the executor answers, so neither side waits for the other or sees an early end. The entry closes these
# six. Descriptor 3 is the host's channel. The executor opens its own ends, in one direction each.
exec 4<>/run/status 5<>/run/stdin 6<>/run/stdout 7<>/run/stderr 8<>/run/to-executor 9<>/run/from-executor
# A program can reopen an unnamed pipe as /dev/stdin; reopening a fifo would wait for a writer that has already ended.
cat </run/stdin 3<&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- | /bin/sh /opt/skillcell/launch/start-executor.sh "$executor" \
  >/run/stdout 2>/run/stderr 3</run/to-executor 4>/run/from-executor 5>/run/status 6>/run/status 7<>/run/requests 8<&- 9<&- &
SKILLCELL_FIRST_EXECUTOR=$! exec /opt/skillcell/bin/node "$@"
