import type { Reporter, TestModule } from 'vitest/node';

/** What a case of test/attacks says of itself. */
interface AttackRow {
  id: string;
  title: string;
  level: string;
  evidence: string[];
  safety?: { loopDelayMs: number; grownMib: number };
}

/** Prints one row a case: its number, whether the attack was stopped, where, and what shows it. */
export default class AttackTableReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines: string[] = [];
    const counts = { blocked: 0, open: 0, skipped: 0 };
    for (const module of modules) {
      for (const test of module.children.allTests()) {
        const { attack } = test.meta() as { attack?: AttackRow };
        const result = test.result();
        const row = attack ?? { id: test.name.split(' ')[0] ?? '', title: test.name, level: '', evidence: [] };
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
    process.once('exit', () => {
      process.stdout.write(
        `${lines.join('\n')}\n${counts.blocked} blocked, ${counts.open} open, ${counts.skipped} skipped\n`,
      );
    });
  }
}

function rowLines(state: string, { id, title, level, safety }: AttackRow, evidence: readonly string[]): string[] {
  const host =
    safety === undefined ? '' : ` (loop ${Math.round(safety.loopDelayMs)} ms, +${Math.round(safety.grownMib)} MiB)`;
  return [
    `${state.padEnd(8)} ${id.padEnd(8)} ${level.padEnd(9)} ${title}`,
    ...evidence.map((line) => `${' '.repeat(28)}${line}${host}`),
  ];
}
