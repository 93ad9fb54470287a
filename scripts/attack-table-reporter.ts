import { writeFileSync } from 'node:fs';
import type { Reporter, TestModule } from 'vitest/node';
import { attacksDocument, type AttackState } from './attacks-document.ts';

/** Metadata of a case of test/attacks. */
interface AttackRow {
  id: string;
  title: string;
  level: string;
  evidence: string[];
  safety?: { loopDelayMs: number; grownMib: number };
}

/** Prints one row per case: its number, whether the attack was blocked, the level, and the evidence. */
export default class AttackTableReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines: string[] = [];
    const states: AttackState[] = [];
    const counts = { blocked: 0, open: 0, skipped: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { attack } = test.meta() as { attack?: AttackRow };
        const result = test.result();
        const row = attack ?? unnamedRow(test.name);
        const { id, title, level } = row;
        const state = result.state === 'passed' ? 'blocked' : result.state === 'skipped' ? 'skipped' : 'OPEN';
        states.push({ id, title, level, state });
        if (result.state === 'passed') {
          counts.blocked += 1;
          lines.push(...rowLines('blocked', row, row.evidence));
        } else if (result.state === 'skipped') {
          counts.skipped += 1;
          lines.push(...rowLines('skipped', row, [result.note ?? 'no reason given']));
        } else {
          counts.open += 1;
          lines.push(
            ...rowLines(
              'OPEN',
              row,
              (result.errors ?? []).map((error) => error.message.split('\n')[0] ?? ''),
            ),
          );
        }
      }
      for (const error of module.errors()) {
        counts.open += 1;
        lines.push(`OPEN     ${module.relativeModuleId}: ${error.message.split('\n')[0]}`);
      }
    }
    if (process.env['WRITE_ATTACKS'] === '1') {
      writeFileSync(new URL('../docs/attacks.md', import.meta.url), attacksDocument(states));
    }
    process.once('exit', () => {
      process.stdout.write(
        `${lines.join('\n')}\n${counts.blocked} blocked, ${counts.open} open, ${counts.skipped} skipped\n`,
      );
    });
  }
}

/** A test without metadata: its name contains the case, the title and the level. */
function unnamedRow(name: string): AttackRow {
  const [, id = '', title = '', level = ''] = /^([A-Z]\d+(?:-[A-Z]?\d+)?)? ?(.*?)(?: \[(\w+)\])?$/.exec(name) ?? [];
  return { id, title, level, evidence: [] };
}

function rowLines(state: string, { id, title, level, safety }: AttackRow, evidence: readonly string[]): string[] {
  const host =
    safety === undefined ? '' : ` (loop ${Math.round(safety.loopDelayMs)} ms, +${Math.round(safety.grownMib)} MiB)`;
  return [
    `${state.padEnd(8)} ${id.padEnd(8)} ${level.padEnd(9)} ${title}`,
    ...evidence.map((line) => `${' '.repeat(28)}${line}${host}`),
  ];
}
