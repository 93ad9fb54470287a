import { describe, expect, it } from 'vitest';
import { fileFaults, folderFaults, lockFaults, namesOfMachine } from '../../scripts/check-files.ts';
import { diagnosticsPage } from '../../scripts/generate-diagnostics.ts';
import { errorsPage } from '../../scripts/generate-errors.ts';

describe('fileFaults()', () => {
  it('finds the folder of the checkout, but no longer path with the same beginning', () => {
    const names = ['/some/where'];
    expect(fileFaults('README.md', 'first\nsee /some/where/file\n', names)).toEqual([
      'README.md:2: names the machine that it was made on, got /some/where',
    ]);
    expect(fileFaults('README.md', '../some/where and /some/wherever and ./some/where', names)).toEqual([]);
  });
});

describe('folderFaults()', () => {
  it('refuses a folder of sources with more than 15 files, beside its folders', () => {
    const files = Array.from({ length: 15 }, (_, index) => `src/jobs/file-${index}.ts`);
    expect(folderFaults([...files, 'src/jobs/run/run-job.ts'])).toEqual([]);
    expect(folderFaults([...files, 'src/jobs/one-more.ts'])).toEqual([
      'src/jobs: a folder has at most 15 files, not 16; divide it',
    ]);
    expect(folderFaults([...files, 'one-more.ts'].map((file) => file.replace('src/', 'test/')))).toEqual([]);
  });
});

describe('namesOfMachine()', () => {
  it('lists folders of at least two parts, and registries other than the public one', () => {
    const names = namesOfMachine('/data/skillcell/', 'http://mirror.example:4873/');
    expect(names).toContain('/data/skillcell');
    expect(names).toContain('mirror.example:4873');
    expect(namesOfMachine('/app/', 'https://registry.npmjs.org/')).not.toContain('/app');
    expect(namesOfMachine('/app/', 'https://registry.npmjs.org/')).not.toContain('registry.npmjs.org');
  });
});

describe('lockFaults()', () => {
  it('refuses download addresses and a missing package of another platform', () => {
    const packages = {
      'node_modules/tool': {
        resolved: 'http://host/tool.tgz',
        optionalDependencies: { '@tool/darwin-arm64': '1.0.0' },
      },
    };
    expect(lockFaults({ packages })).toEqual([
      'package-lock.json: node_modules/tool has a download address, got http://host/tool.tgz',
      'package-lock.json: node_modules/@tool/darwin-arm64 is missing; run `node scripts/complete-lock.ts`',
    ]);
    const complete = {
      'node_modules/tool': packages['node_modules/tool'],
      'node_modules/@tool/darwin-arm64': { version: '1.0.0' },
    };
    expect(lockFaults({ packages: complete })).toHaveLength(1);
  });
});

describe('errorsPage()', () => {
  it('has a row for every code, and keeps the table intact', () => {
    const page = errorsPage({ 'a.b': { http: 400, exitCode: 2, retry: true, advice: 'Use x | y.' } });
    expect(page).toContain('| `a.b` | 2 | 400 | yes | Use x \\| y. |');
  });
});

describe('diagnosticsPage()', () => {
  it('has a row for every code, and keeps the table intact', () => {
    const page = diagnosticsPage({ 'a.b': { severity: 'info', meaning: 'a | b', advice: 'Use x | y.' } });
    expect(page).toContain('| `a.b` | info | a \\| b | Use x \\| y. |');
  });
});
