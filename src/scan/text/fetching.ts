import { baseName, type CommandToken } from './command-tokens.ts';

const FETCHERS: ReadonlySet<string> = new Set(
  'curl curl.exe wget wget2 wget.exe iwr irm invoke-webrequest invoke-restmethod aria2c lynx http https fetch'.split(
    ' ',
  ),
);
const METHODS = ['downloadstring', 'downloadfile', 'downloaddata'];

/** Words one of which is in every text that fetches or decodes by a command. */
export const FETCHING_WORDS: readonly string[] = [
  'curl',
  'wget',
  'iwr',
  'irm',
  'invoke-webrequest',
  'invoke-restmethod',
  'aria2c',
  'lynx',
  'http',
  'fetch',
  'download',
  'base64',
  'base32',
  'xxd',
  'openssl',
  'uudecode',
];

/** Whether a word is a command, or a method of PowerShell, that fetches. */
export function isFetcher({ word }: CommandToken): boolean {
  return (
    FETCHERS.has(word.includes('://') ? '' : baseName(word)) || METHODS.some((method) => word.endsWith(`.${method}`))
  );
}

/** By the name of a command: the letter and the word of the option with which it decodes. */
const DECODERS: ReadonlyMap<string, readonly [letter: string, word: string]> = new Map([
  ['base64', ['d', '--decode']],
  ['gbase64', ['d', '--decode']],
  ['base32', ['d', '--decode']],
  ['xxd', ['r', '-revert']],
  ['openssl', ['d', '-d']],
]);

/** Whether a command makes bytes of text again: its name, and the option for it. */
export function decodes(tokens: readonly CommandToken[]): boolean {
  return tokens.some(({ word }, index) => {
    const option = DECODERS.get(baseName(word));
    if (option === undefined) return baseName(word) === 'uudecode';
    // What follows in the same command is few words.
    return tokens.slice(index + 1, index + OPTIONS).some((each) => isOption(each.word, option));
  });
}

function isOption(word: string, [letter, long]: readonly [string, string]): boolean {
  return word === long || (/^-[a-z]+$/.test(word) && word.includes(letter));
}

const OPTIONS = 12;
const OUTPUT: ReadonlySet<string> = new Set(['-o', '--output', '--output-document', '-outfile']);

/** Names of the files that a command writes what it fetches to. */
export function fetchedFiles(line: string, tokens: readonly CommandToken[]): string[] {
  const isWget = tokens.some(({ word }) => baseName(word) === 'wget');
  return tokens
    .flatMap(({ word, at }, index) => {
      const before = tokens[index - 1];
      const gap = line.slice(before === undefined ? 0 : before.at + before.word.length, at);
      if ((before !== undefined && OUTPUT.has(before.word)) || gap.includes('>')) return [baseName(word)];
      if (word.startsWith('--output=') || word.startsWith('--output-document='))
        return [baseName(word.slice(word.indexOf('=') + 1))];
      return isWget && /^https?:/.test(word) ? [baseName(word)] : [];
    })
    .filter((name) => /\w/.test(name) && name !== 'null' && name !== 'dev');
}
