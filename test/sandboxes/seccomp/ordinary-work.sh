# Ordinary work of a shell script with the core utilities; prints results that do not depend on the machine.
set -euo pipefail
folder=$(mktemp -d)
cd "$folder"

printf 'b\na\nc\n' | sort | tee sorted | tr a-c A-C | paste -sd,
cat - <(echo "process substitution") <<<"here string"
diff <(seq 3) <(seq 3) && echo same
mkfifo pipe && { echo through the fifo >pipe & } && cat pipe && wait
exec {copy}>kept && echo kept >&"$copy" && exec {copy}>&- && cat kept

set -m
sleep 30 & job=$!
# Whether bash also reports the end of the job depends on when the job ends.
{
  kill -STOP %+ && kill -CONT %+ && kill %+
  wait "$job" || echo "job ended with $?"
} 2>/dev/null
sleep 0.1 & fg >/dev/null
set +m
coproc cat
echo coprocess >&"${COPROC[1]}" && read -r line <&"${COPROC[0]}" && echo "$line"
trap 'echo trapped' USR1 && kill -USR1 $$
timeout 0.1 sleep 30 || echo "timed out with $?"
(ulimit -n 64 && ulimit -n)
[ "$(nproc)" -gt 0 ] && [ -n "$(uname -r)" ] && id -u >/dev/null && nice -n 5 true && nohup true 2>/dev/null && env -i true

mkdir -p tree/branch && echo leaf >tree/branch/leaf && ln tree/branch/leaf tree/hard && ln -s hard tree/soft
chmod 750 tree && touch -d '2001-02-03 UTC' tree/hard && cp -a tree copy && cp --reflink=auto tree/hard cloned && mv cloned moved
stat -c '%a %Y %h %F' copy/hard && readlink copy/soft && install -m 600 moved installed && truncate -s 9 installed && wc -c <installed
dd if=/dev/zero of=zeros bs=1k count=4 conv=fsync status=none && head -c 2 zeros | od -An -tx1 && split -b 1k zeros part. && ls part.*
tar czf tree.tgz tree && tar tzf tree.tgz | sort && gzip -c moved | gunzip && sha256sum moved
find copy -type f | sort | xargs -n 1 -P 2 basename | sort && du -s copy >/dev/null && df . >/dev/null
(sleep 0.2; echo grown >>sorted) & timeout 5 tail -n 1 -f sorted | head -n 2 || true
rm -r "$folder"
echo finished
