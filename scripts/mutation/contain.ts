import { spawnSync } from 'node:child_process';

/**
 * Runs a program that sees and ends only its own processes, and changes only files of the tree: a mutant of the code that finds leftover processes
 * and folders could otherwise find all of the machine. `/tmp` is empty; the cache of the runtime belongs to the tree. At the address of the
 * machine's engine stands an engine of the tests, or none.
 */
const ENTER = `
set -e
tree=$1 root=$2 engine=$3
shift 3
if [ -e /var/run/docker.sock ]; then mount --bind "$engine" /var/run/docker.sock; fi
mkdir -p "$tree/.toolchain/cache" /var/cache/skillcell
mount --bind "$tree/.toolchain/cache" /var/cache/skillcell
mount -t tmpfs tmpfs /mnt
mkdir /mnt/tree /mnt/root
mount --bind "$tree" /mnt/tree
mount --bind "$root" /mnt/root
mount -t tmpfs -o mode=1777 tmpfs /tmp
mkdir -p "$tree" "$root"
mount --move /mnt/tree "$tree"
case $root in /tmp/*) mount --move /mnt/root "$root" ;; *) umount /mnt/root ;; esac
umount /mnt
mount -o remount,bind,ro /
set +e
"$@"
exit $?
`;

const NAMESPACES = ['--mount', '--pid', '--fork', '--mount-proc', '--kill-child', '--'];

/** Whether this machine allows containment: it needs uid 0 and the right to create namespaces. */
export function canContain(): boolean {
  return spawnSync('unshare', [...NAMESPACES, 'true']).status === 0;
}

/** A file at which no engine answers. */
const NO_ENGINE = '/dev/null';

/** Paths that a contained program sees. */
export interface Surroundings {
  tree: string;
  /** The checkout, with the packages and tools of the tree. */
  root: string;
  /** The socket of an engine of its own. */
  engine: string | undefined;
}

/** The words that run a program contained in a tree of a checkout. */
export function contained({ tree, root, engine = NO_ENGINE }: Surroundings, words: readonly string[]): string[] {
  // The shell stays: as the first process of its namespace it reaps orphans and survives a kill of all processes.
  return ['unshare', ...NAMESPACES, '/bin/sh', '-c', ENTER, 'sh', tree, root, engine, ...words];
}
