/**
 * Ends this process after its `exit` handlers, without waiting for Node's own threads: `process.exit()` waits for them, and that wait can last for
 * ever (nodejs/node#54918). Without a host, nothing else would end such a process. The process becomes a shell and does not use a signal: the first
 * process of a container cannot kill itself, and callers read the exit code.
 */
export function exitAtOnce(code: number): never {
  process.once('exit', () => process.execve?.('/bin/sh', ['sh', '-c', `exit ${code}`], {}));
  process.exit(code);
}
