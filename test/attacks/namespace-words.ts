/** One option of bubblewrap or setpriv with its operands, under its name in the table of changes. */
export interface LauncherOption {
  key: string;
  words: string[];
}

/** Folders through which programs in /usr are found: links on most machines, folders on others. */
const TOP_FOLDERS = /^\/(bin|sbin|lib|lib32|lib64)$/;

/** The options among a launcher's words, up to the end of the options. */
export function optionsOf(words: readonly string[]): LauncherOption[] {
  const options: string[][] = [];
  for (const word of words) {
    if (word === '--') break;
    if (word.startsWith('--')) options.push([word]);
    else options.at(-1)?.push(word);
  }
  return options.map((option, index) => ({ key: keyOf(option, options[index + 1]), words: option }));
}

function keyOf([name = '', ...operands]: readonly string[], next: readonly string[] | undefined): string {
  const last = operands.at(-1) ?? '';
  if (name === '--setenv') return `${name} ${operands[0]}`;
  // A size belongs to the next file system.
  if (name === '--size') return `${name} ${next?.at(-1)}`;
  if (TOP_FOLDERS.test(last)) return 'top folders';
  // The set of these files differs between machines.
  if (name === '--ro-bind-try' && last.startsWith('/etc/')) return `${name} in /etc`;
  if (name === '--ro-bind' && last.startsWith('/etc/')) return `${name} in /etc`;
  return /^--(cap-|chdir)/.test(name) || last.startsWith('/') ? `${name} ${last}` : (name.split('=')[0] ?? name);
}

/** The words of bubblewrap only, from its path on. */
export function fromBubblewrap(words: readonly string[]): string[] {
  return words.slice(words.findIndex((word) => /(^|\/)bwrap$/.test(word)));
}

/** Removes or replaces the options with these names in a command of setpriv and bubblewrap. */
export function replaceOption(words: readonly string[], key: string, instead: readonly string[] = []): string[] {
  const end = words.indexOf('--');
  const at = words.findIndex((word) => /(^|\/)bwrap$/.test(word));
  const parts = [words.slice(0, at), words.slice(at, end)];
  let found = false;
  const replaced = parts.map((part) => {
    const first = part.findIndex((word) => word.startsWith('--'));
    const head = first === -1 ? part : part.slice(0, first);
    return [
      ...head,
      ...optionsOf(part).flatMap((option) => {
        if (option.key !== key) return option.words;
        found = true;
        return instead;
      }),
    ];
  });
  if (!found) throw new Error(`Cannot change a launcher: it has no ${key}.`);
  return [...replaced.flat(), ...words.slice(end)];
}
