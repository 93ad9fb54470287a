#!/bin/sh
# Starts one executor in an inner namespace of its own: its own processes and users, the seccomp filter, and only a few writable folders. Its network
# is that of the outer namespace, which has only the loopback interface: there the supervisor opens the door of a job with a network. Descriptors: 0-2 the user's streams, 3 messages in, 4 messages out, 5 the status of bubblewrap, 6 the status of the program, 7
# requests for another interpreter. Argument: the executor's variables and command, as a shell reads them.
set -eu

# The kernel kills user code first when memory is short. A process may raise its own score without privilege.
echo 1000 >/proc/self/oom_score_adj

eval "set -- $1"
always=0
if [ "${SKILLCELL_NPROC:-0}" -gt 0 ]; then
  set -- /usr/bin/prlimit "--nproc=$SKILLCELL_NPROC" -- /usr/bin/env "$@"
  always=4
fi
# Without perl an exit code over 128 is reported as a signal, and no interpreter is replaced.
if [ -x /usr/bin/perl ]; then
  set -- /usr/bin/perl /opt/skillcell/launch/wait-for-program.pl "$always" "$@"
else
  exec 6>&- 7<&-
  set -- /usr/bin/env --default-signal "$@"
fi
# Links must be made before the root becomes read-only, so they are prepended later.
set -- --remount-ro /dev --remount-ro / --chdir / --json-status-fd 5 --seccomp 9 -- "$@"
for folder in bin sbin lib lib32 lib64; do
  if [ -L "/$folder" ]; then
    set -- --symlink "usr/$folder" "/$folder" "$@"
  elif [ -d "/$folder" ]; then
    set -- --ro-bind "/$folder" "/$folder" "$@"
  fi
done

exec bwrap \
  --unshare-user --uid 1000 --gid 1000 --unshare-pid --unshare-ipc --unshare-uts --unshare-cgroup-try \
  --hostname sandbox --die-with-parent --new-session --cap-drop ALL --clearenv \
  --setenv PATH /usr/local/bin:/usr/bin:/bin:/opt/skillcell/bin --setenv LANG C.UTF-8 --setenv HOME /workspace --setenv TMPDIR /tmp \
  --ro-bind /usr /usr --ro-bind /etc /etc --ro-bind /opt/skillcell /opt/skillcell \
  --ro-bind /opt/skillcell/languages/javascript/guest /node_modules/skillcell \
  --bind /workspace /workspace --bind /value /value --ro-bind /skills /skills \
  --proc /proc --ro-bind /proc/sys /proc/sys --dev /dev \
  --bind /inner/shm /dev/shm --bind /inner/tmp /tmp \
  "$@" 9</opt/skillcell/seccomp.bpf
