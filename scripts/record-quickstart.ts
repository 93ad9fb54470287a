/** Records the beginning of `npm start` as a picture: `node scripts/record-quickstart.ts` writes docs/images/quickstart.svg. */
import { execa } from 'execa';
import { writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';

/** Shown lines: the attacks, and the comparison without and with a skill. */
const LINES = 49;
const [WIDTH, LINE, CHARACTER, MARGIN] = [112, 17, 7.83, 18];

/** Draws lines of a terminal. */
export function terminalPicture(lines: readonly string[]): string {
  const [width, height] = [Math.ceil(WIDTH * CHARACTER + 2 * MARGIN), lines.length * LINE + 2 * MARGIN + 8];
  const rows = lines.map((line, index) => {
    const kind = /^\d /.test(line) ? ' class="head"' : line.startsWith('$') ? ' class="command"' : '';
    return `<text${kind} x="${MARGIN}" y="${MARGIN + 14 + index * LINE}">${escaped(line)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 ${width} ${height}" role="img" aria-label="Output of npm start">
<style>text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d1d7e0; white-space: pre } .head { fill: #ffffff; font-weight: 600 } .command { fill: #6cb6ff }</style>
<rect width="${width}" height="${height}" rx="10" fill="#22272e"/>
${rows.join('\n')}
</svg>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll(' ', '\u00a0');
}

if (import.meta.main) {
  const root = fileURLToPath(new URL('..', import.meta.url));
  const { stdout } = await execa('npm', ['start', '--silent'], { cwd: root, stdin: 'ignore' });
  // The home of this machine is left out; the columns behind it stay.
  const home = homedir();
  const [first = '', ...rest] = stripVTControlCharacters(stdout).trimStart().split(home);
  const text = [first, ...rest.map((part) => `~${part.replace(/^\S*/, (path) => path + ' '.repeat(home.length - 1))}`)];
  const shown = text.join('').split('\n');
  const lines = ['$ npm start', '', ...shown.slice(0, LINES), '…'].map((line) => line.slice(0, WIDTH));
  writeFileSync(`${root}docs/images/quickstart.svg`, terminalPicture(lines));
}
