import { spawnSync } from 'node:child_process';

/**
 * Runs a program that sees and ends only its own processes, and changes only files of the tree: a mutant of the code that finds leftover processes
 * and folders could otherwise find all of the machine. `/tmp` is empty; the cache of the runtime belongs to the tree.
 */
const ENTER = `
set -e
tree=$1 root=$2
shift 2
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

/** The words that run a program contained in a tree of a checkout. */
export function contained(tree: string, root: string, words: readonly string[]): string[] {
  // The shell stays: as the first process of its namespace it reaps orphans and survives a kill of all processes.
  return ['unshare', ...NAMESPACES, '/bin/sh', '-c', ENTER, 'sh', tree, root, ...words];
}
