import type { FoundInFile } from '../scan-finding.ts';
import type { ScannedFile } from '../scanned-file.ts';

/** Files that a tool runs by itself, by their names in lower case, with the tool. */
const RUN_BY_THEMSELVES: readonly (readonly [pattern: RegExp, by: string])[] = [
  [/^conftest\.py$/, 'pytest runs it wherever it collects tests'],
  [/\.pth$/, 'Python runs its lines at start, if it lies in a folder of packages'],
  [/^(?:site|user)customize\.py$/, 'Python runs it when it starts'],
  [/^\.envrc$/, 'direnv runs it on entry into the folder'],
  [/^binding\.gyp$/, 'npm builds it when the package is installed'],
  [/^\.pnpmfile\.c?js$/, 'pnpm runs it when packages are installed'],
  [/^\.yarnrc\.ya?ml$/, 'yarn runs the programs that it names'],
  [/^\.pre-commit-config\.ya?ml$/, 'git runs the hooks that it names before a commit'],
  [/^\.mcp\.json$/, 'an agent runs the servers that it names'],
  [/^\.devcontainer\.json$/, 'editors run the commands that it names when the folder is opened'],
  [/^(?:autorun\.inf|desktop\.ini)$/, 'Windows reads it when the folder is opened'],
];
/** Files that a tool runs in certain folders: the end of the folder's path, the name, and the tool. */
const RUN_IN_FOLDER: readonly (readonly [folders: readonly string[], pattern: RegExp, by: string])[] = [
  [['.git/hooks', '.githooks', '.husky'], /^[^_]/, 'git runs it'],
  [['.git'], /^config$/, 'git runs the programs that it names'],
  [['.github/workflows'], /\.ya?ml$/, 'GitHub runs it in every copy of the repository'],
  [
    ['.claude', '.cursor', '.gemini', '.codex'],
    /^(?:settings\.json|settings\.local\.json|hooks\.json|mcp\.json|config\.toml)$/,
    'an agent runs the commands that it names',
  ],
  [['.claude/hooks', '.cursor/hooks'], /./, 'an agent runs it'],
  [['hooks'], /^hooks\.json$/, 'an agent runs the commands that it names'],
  [['.devcontainer'], /\.json$/, 'editors run the commands that it names when the folder is opened'],
];
const BUILD_FILES =
  /^(?:makefile|gnumakefile|setup\.py|noxfile\.py|fabfile\.py|tasks\.py|dodo\.py|rakefile|gruntfile\.[cm]?[jt]s|gulpfile\.[cm]?[jt]s|justfile|build\.rs|build\.gradle(?:\.kts)?|cmakelists\.txt|dockerfile|vagrantfile|jenkinsfile|meson\.build|(?:vite|vitest|jest|webpack|rollup|babel|eslint|prettier|postcss|tailwind|next|nuxt|svelte|astro|playwright|karma|metro)\.config\.[cm]?[jt]s|\.eslintrc\.[cm]?js)$/;
/** Scripts that npm runs by itself. */
const LIFECYCLE =
  /^(?:pre|post)?(?:install|prepare|pack|publish|uninstall|shrinkwrap)$|^(?:prepublishonly|preprepare|dependencies)$/;

/** Finds files that tools run, either by themselves or when they are called in the folder. */
export function findByName(file: ScannedFile): FoundInFile[] {
  const { path, name } = file;
  const lower = path.toLowerCase();
  const folder = `/${lower.slice(0, -name.length)}`;
  const by =
    RUN_BY_THEMSELVES.find(([pattern]) => pattern.test(name))?.[1] ??
    RUN_IN_FOLDER.find(
      ([folders, pattern]) =>
        folders.some((each) => folder.endsWith(`/${each}/`)) && pattern.test(name) && !name.endsWith('.sample'),
    )?.[2];
  if (by !== undefined) return [{ code: 'scan.runs-by-itself', message: `${capitalized(by)}.` }];
  if (name === 'package.json') return lifecycleScripts(file);
  if (name === 'tasks.json' && folder.endsWith('/.vscode/')) return editorTasks(file);
  if (name === 'settings.json' && folder.endsWith('/.vscode/'))
    return [{ code: 'scan.build-file', message: 'An editor reads from it which programs to start.' }];
  if (BUILD_FILES.test(name) || file.ending === '.mk' || file.ending === '.dockerfile')
    return [{ code: 'scan.build-file', message: 'A tool runs it when it is called in this folder.' }];
  return [];
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** npm does not run invalid JSON either, so it has no scripts. */
function lifecycleScripts({ text, path }: ScannedFile): FoundInFile[] {
  const scripts = recordOf(recordOf(parsed(text))['scripts']);
  return Object.keys(scripts)
    .filter((name) => LIFECYCLE.test(name.toLowerCase()))
    .map((name) => {
      const at = text.indexOf(JSON.stringify(name));
      const message = `npm runs the script ${JSON.stringify(name)} of ${path} by itself.`;
      return { code: 'scan.runs-by-itself', message, ...(at < 0 ? {} : { at }) };
    });
}

function editorTasks({ text }: ScannedFile): FoundInFile[] {
  const at = text.search(/"folderOpen"/i);
  if (at >= 0) return [{ code: 'scan.runs-by-itself', message: 'An editor runs it when the folder is opened.', at }];
  return [{ code: 'scan.build-file', message: 'An editor runs its tasks when it is asked to.' }];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    // npm refuses it too.
    return undefined;
  }
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
