import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Session, SessionRun } from '../../../src/contracts/jobs/session.ts';
import { createOrchestrator } from '../../../src/jobs/create-orchestrator.ts';
import type { Orchestrator } from '../../../src/jobs/orchestrator.ts';
import { EVERY_LEVEL, everyRunner, requireEachLevel, runnerOf } from '../../fixtures/every-level.ts';
import { sharedSession } from '../../fixtures/shared-session.ts';

let orchestrator: Orchestrator;
beforeAll(async () => {
  orchestrator = createOrchestrator({ runners: await everyRunner(), allowUnisolated: true });
});
afterAll(() => orchestrator.close());

/** Runs code, and expects exactly this output and a kept session. */
async function prints(session: Session, code: string, stdout: string, stderr = ''): Promise<SessionRun> {
  const run = await session.run(code);
  expect({ code, state: run.state, stdout: run.stdout.text, stderr: run.stderr.text }).toEqual({
    code,
    state: 'kept',
    stdout,
    stderr,
  });
  return run;
}

describe.each(EVERY_LEVEL)('bash in a session at level %s', (level) => {
  const opened = sharedSession(() =>
    orchestrator.session({ language: 'bash', isolation: level, runner: runnerOf(level) }),
  );

  /** The session with a new interpreter: options, traps and variables of another test are gone. */
  const renewed = async (): Promise<Session> => {
    const session = await opened();
    expect(await session.run('kill -KILL $$')).toMatchObject({ state: 'lost', signal: 'SIGKILL' });
    return session;
  };

  it('keeps the options of the code, and does not apply them to its own lines', async (context) => {
    requireEachLevel(context, level);
    const session = await renewed();
    await prints(session, 'set -euo pipefail; x=1', '');
    await prints(session, 'echo $x $-', '1 ehuB\n');
    expect(await prints(session, 'printf 1 >"$SKILLCELL_VALUE"', '')).toMatchObject({ value: 1 });
    await prints(session, 'set +eu; set -a; y=2', '');
    await prints(session, 'env | grep -c __skillcell; set +a', '0\n');
    await prints(session, 'set -v', '');
    await prints(session, 'echo $y', '2\n', 'echo $y\n');
    await prints(session, 'set +v', '', 'set +v\n');
    await prints(session, 'set -x', '');
    await prints(session, 'echo $y; set +x', '2\n', '+++ echo 2\n+++ set +x\n');
    await prints(session, 'shopt -s nullglob failglob nocasematch localvar_inherit; set -fC', '');
    await prints(session, 'echo $-', 'fhBC\n');
  });

  it('passes the status of a run to the next run', async (context) => {
    requireEachLevel(context, level);
    const session = await renewed();
    await prints(session, 'echo $?', '0\n');
    for (const [code, status] of [
      ['true', 0],
      ['false', 1],
      ['(exit 7)', 7],
      ['x=1', 0],
      ['sh -c "kill -TERM \\$\\$" 2>/dev/null', 143],
      ['set -e; trap : RETURN', 0],
    ] as const) {
      expect(await session.run(code)).toMatchObject({ exitCode: status, state: 'kept' });
      await prints(session, 'echo $?', `${status}\n`);
    }
  });

  it('drops a byte order mark ahead of the code', async (context) => {
    requireEachLevel(context, level);
    const session = await renewed();
    await prints(session, '\uFEFFset -e; echo on', 'on\n');
    await prints(session, 'echo $-', 'ehB\n');
  });

  it('stops code under `set -e` or in functions, and skips the rest of it', async (context) => {
    requireEachLevel(context, level);
    const session = await renewed();
    await prints(session, 'set -euo pipefail; f() { g; echo f; }; g() { while :; do :; done; echo g; }', '');
    for (const code of ['f; echo rest', 'while :; do sleep 1000; done; echo rest']) {
      const stopped = await session.run(code, { timeoutMs: 500 });
      expect(stopped).toMatchObject({ outcome: 'timeout', state: 'kept', stdout: { text: '' } });
    }
    await prints(session, 'echo $-', 'ehuB\n');
  });

  it('survives interrupts that arrive as a run ends', async (context) => {
    requireEachLevel(context, level);
    const session = await renewed();
    const value = `printf '"%200000s"' >"$SKILLCELL_VALUE"`;
    await session.run(`(for ((i = 0; i < 3000; i++)); do kill -INT $$; done) & ${value}`);
    for (let i = 0; i < 10; i += 1) expect((await session.run(value)).state).toBe('kept');
    await prints(session, 'wait; echo on', 'on\n');
  });

  it('prints exactly the output of the code, even with traps of the code', async (context) => {
    requireEachLevel(context, level);
    const session = await renewed();
    await prints(session, `trap 'echo "<$BASH_COMMAND>"' DEBUG`, '');
    await prints(session, 'echo a', '<echo a>\na\n');
    await prints(session, 'trap - DEBUG', '<trap - DEBUG>\n');
    await prints(session, `trap 'echo failed' ERR`, '');
    await prints(session, '(exit 5)', 'failed\n');
    await prints(session, 'echo $?; trap - ERR', '5\n');
    await prints(session, `trap 'echo asked' INT`, '');
    await prints(session, 'kill -INT $$', 'asked\n');
    await prints(session, 'trap - INT; trap "echo bye" EXIT', '');
    expect(await session.run('exit 4')).toMatchObject({ state: 'lost', exitCode: 4, stdout: { text: 'bye\n' } });
  });

  it('leaves names, functions, builtins and loops to the code', async (context) => {
    requireEachLevel(context, level);
    const session = await renewed();
    await prints(session, 'readonly text=hello code=5 kind=7 value=3 length=1 head=x LC_ALL IFS REPLY', '');
    expect(await prints(session, `echo '"  é "' >"$SKILLCELL_VALUE"`, '')).toMatchObject({ value: '  é ' });
    await prints(session, 'printf() { :; }; rm() { :; }; read() { :; }; local() { :; }; stat() { :; }', '');
    expect(await prints(session, 'echo 1 >"$SKILLCELL_VALUE"', '')).toMatchObject({ value: 1 });
    expect(await prints(session, 'echo $text', 'hello\n')).not.toHaveProperty('value');
    await prints(session, 'enable -n printf read mapfile; unset -f printf read', '');
    await prints(session, 'for i in 1 2; do break 9; done; echo $i', '1\n');
    for (const word of ['break', 'continue 2']) {
      const only = `${word.split(' ')[0]}: only meaningful in a \`for', \`while', or \`until' loop\n`;
      await prints(session, `${word}; echo on`, 'on\n', `/dev/fd/203: line 1: ${only}`);
    }
    await prints(session, 'declare top=1; set -- a b', '');
    await prints(session, 'echo $top "$@" $0', '1 a b bash\n');
    await prints(session, 'mine="$SKILLCELL_VALUE"; unset SKILLCELL_VALUE', '');
    expect(await prints(session, 'echo 2 >"$mine"', '')).toMatchObject({ value: 2 });
  });

  it('leaves descriptors to the code, and passes no descriptor of its own to commands', async (context) => {
    requireEachLevel(context, level);
    const session = await renewed();
    await prints(session, 'exec 3>&1 4>&2 10>&1; echo a >&3', 'a\n');
    await prints(session, 'exec 4>&- 3< <(echo b); cat <&3', 'b\n');
    await prints(session, 'exec 5>out.txt; echo c >&5', '');
    await prints(session, 'echo d >&5; cat out.txt >&10; exec 3<&- 5>&- 10>&-', 'c\nd\n');
    await prints(session, 'ls /proc/self/fd | grep -c "^20[0-2]$"', '0\n');
  });
});
