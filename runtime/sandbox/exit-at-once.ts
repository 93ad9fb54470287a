/**
 * Ends this process after its `exit` handlers, without the end of Node's own threads: `process.exit()` waits for them, and that wait can
 * last for ever (nodejs/node#54918). Without a host, nothing else would end such a process. A shell takes its place instead of
 * a signal, since the first process of a container cannot kill itself, and the exit code has readers.
 */
export function exitAtOnce(code: number): never {
  process.once('exit', () => process.execve?.('/bin/sh', ['sh', '-c', `exit ${code}`], {}));
  process.exit(code);
}
