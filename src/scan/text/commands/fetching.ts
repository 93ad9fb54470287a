import { baseName, type CommandToken } from './command-tokens.ts';
import { isCommandPlace } from './command-place.ts';

const FETCHERS: ReadonlySet<string> = new Set(
  'curl curl.exe wget wget2 wget.exe iwr irm invoke-webrequest invoke-restmethod aria2c lynx http https fetch'.split(
    ' ',
  ),
);
const METHODS = ['downloadstring', 'downloadfile', 'downloaddata'];

/** Every text that fetches or decodes with a command holds one of these words. */
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

/** Commands whose names are also ordinary words. */
const WORDS_AS_WELL: ReadonlySet<string> = new Set(['http', 'https', 'fetch', 'lynx']);
/** An argument that names a host for such a command. */
const FULL_ADDRESS = /:\/\/|^[$%]|^localhost\b|[.:][\w-]+\//;

/**
 * Finds the fetching command, or the fetching method of PowerShell. It is at the place of a command, and an address follows.
 *
 * @param stage text between pipes
 * @param tokens its words
 * @returns the index of its word, or -1
 */
export function fetcherIn(stage: string, tokens: readonly CommandToken[]): number {
  return tokens.findIndex(({ word, at }, index) => {
    const name = word.includes('://') ? '' : baseName(word);
    const isMethod = METHODS.some((method) => word.endsWith(`.${method}`));
    if (!isMethod && !(FETCHERS.has(name) && isCommandPlace(stage, at))) return false;
    const isPlainWord = WORDS_AS_WELL.has(name);
    return tokens
      .slice(index + 1, index + 1 + WORDS_BEHIND)
      .some(
        (each) =>
          FULL_ADDRESS.test(each.word) ||
          (!isPlainWord && isHost(each.word)) ||
          /[<{]$/.test(stage.slice(each.at - 1, each.at)),
      );
  });
}

/** Whether a word is the name of a host, with or without a path. */
function isHost(word: string): boolean {
  const [host = ''] = word.split(/[:/]/, 1);
  const dot = host.lastIndexOf('.');
  return dot > 0 && /^[a-z]{2,}$/.test(host.slice(dot + 1)) && /^[\w.-]+$/.test(host);
}

/** By name of a decoding command: the letter and the word of its option for decoding. */
const DECODERS: ReadonlyMap<string, readonly [letter: string, word: string]> = new Map([
  ['base64', ['d', '--decode']],
  ['gbase64', ['d', '--decode']],
  ['base32', ['d', '--decode']],
  ['xxd', ['r', '-revert']],
  ['openssl', ['d', '-d']],
]);

/** Whether a command decodes text into bytes: its name with the option for it. */
export function decodes(tokens: readonly CommandToken[]): boolean {
  return tokens.some(({ word }, index) => {
    const option = DECODERS.get(baseName(word));
    if (option === undefined) return baseName(word) === 'uudecode';
    // The option is among the next few words of the command.
    return tokens.slice(index + 1, index + OPTIONS).some((each) => isOption(each.word, option));
  });
}

function isOption(word: string, [letter, long]: readonly [string, string]): boolean {
  return word === long || (/^-[a-z]+$/.test(word) && word.includes(letter));
}

const OPTIONS = 12;
/** Number of words behind a fetching command that are searched for its address. */
const WORDS_BEHIND = 60;
const OUTPUT: ReadonlySet<string> = new Set(['-o', '--output', '--output-document', '-outfile']);

/** Names of the files that a fetching command writes. Only words behind the fetching word count. */
export function fetchedFiles(line: string, tokens: readonly CommandToken[], fetcher: number): string[] {
  const isWget = tokens.some(({ word }) => baseName(word) === 'wget');
  return tokens
    .flatMap(({ word, at }, index) => {
      if (index <= fetcher) return [];
      const before = tokens[index - 1];
      const gap = line.slice(before === undefined ? 0 : before.at + before.word.length, at);
      if ((before !== undefined && OUTPUT.has(before.word)) || gap.includes('>')) return [baseName(word)];
      if (word.startsWith('--output=') || word.startsWith('--output-document='))
        return [baseName(word.slice(word.indexOf('=') + 1))];
      return isWget && /^https?:/.test(word) ? [baseName(word)] : [];
    })
    .filter((name) => /\w/.test(name) && name !== 'null' && name !== 'dev');
}
