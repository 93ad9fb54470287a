import type { CommandSpecification } from '../options/flags/command.ts';
import { JSON_FLAG } from '../options/flags/flags.ts';

/** The command that scans skills before they are taken. */
export const SCAN_COMMANDS: readonly CommandSpecification[] = [
  {
    path: ['skills', 'scan'],
    summary: 'scan skills for risks: hidden text, fetched code, secrets',
    operands: 'PATH...',
    minimumOperands: 1,
    maximumOperands: Number.POSITIVE_INFINITY,
    flags: [
      {
        name: 'format',
        value: 'NAME',
        choices: ['text', 'json', 'sarif'],
        summary: 'text, json or sarif (default: text)',
      },
      {
        name: 'fail-on',
        value: 'SEVERITY',
        choices: ['high', 'medium', 'low'],
        summary: 'end with exit code 1 when something of this severity, or graver, is found',
      },
      { ...JSON_FLAG, summary: 'the same as --format json' },
    ],
    notes: [
      'PATH is a folder of a skill, a folder of skills, an archive (.zip, .skill, .tar.gz), or one file.',
      'A scan proves nothing safe: it finds plain forms of harm, and lists the parts that it did not read. docs/scan.md has the rules.',
    ],
    load: async () => (await import('../commands/skills/run-scan.ts')).runScan,
  },
];
