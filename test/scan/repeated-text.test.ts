import { expect, it } from 'vitest';
import { scanTree } from '../../src/scan/scan-tree.ts';
import { treeOf } from '../fixtures/scan/scan-case.ts';

/** Texts for which a backtracking expression or loop would need minutes or hours. */
const hostile = [
  'curl ',
  'curl | ',
  'curl x \\\n',
  'curl x |\n',
  '| curl\n',
  '$(curl ',
  '`curl ',
  'sh <(',
  'exec(',
  'eval(fetch(',
  'ignore all ',
  'ignore ',
  '- ',
  'not tell a ',
  '<!--',
  '<!-- a -->',
  '/* ',
  '](',
  '[a](b',
  '`',
  '`` ` ',
  '> /',
  'cp a /etc/',
  '~/.ssh/',
  'os.environ',
  'eyJaaaaaaaaaaa.',
  'sk-ant-',
  'aA1',
  '\\x61',
  '\u0430a',
  '\u200b',
  'fi ',
  '\u202e',
  ' ',
  '\t\n',
  '[a]: ',
  'system ',
  'a@b:c://',
  'postgres://a:',
  '-----BEGIN ',
  'may not be copy ',
  '忽略',
  '"runOn" ',
];
it.each(hostile)('scanTree() reads 256 KiB of %j in linear time', (piece) => {
  const text = piece.repeat(Math.ceil((256 * 1024) / piece.length));
  const files = { 'SKILL.md': `---\ndescription: ${text}`, 'a.sh': text, LICENSE: text, '.vscode/tasks.json': text };
  const { scannedBytes } = scanTree(treeOf(files));
  expect(scannedBytes).toBe(Object.values(files).reduce((sum, each) => sum + Buffer.byteLength(each), 0));
});
