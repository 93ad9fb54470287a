import { readFileSync } from 'node:fs';
import { findInterpreter, type LanguageDefinition } from '../../contracts/jobs/language.ts';
import { languages } from '../../languages/languages.ts';
import { controlGroupLayout } from '../../sandboxes/local/control-group.ts';
import { readModelSettings } from '../../models/gateways/model-environment.ts';
import type { CliIo } from '../terminal/cli-io.ts';
import { examineEngine } from './examine-engine.ts';
import type { MachineCheck } from './machine-check.ts';

const OLDEST_NODE = 24;

/** Checks the requirements of sandboxes. Starts nothing but `--version` commands. */
export async function examineMachine(io: CliIo): Promise<MachineCheck[]> {
  return [
    node(),
    await program('bubblewrap', 'bwrap', true, 'Install it for level namespace: `apt-get install bubblewrap`.'),
    await program('util-linux', 'setpriv', true, 'Install it for level namespace: `apt-get install util-linux`.'),
    userNamespaces(),
    controlGroups(),
    ...(await Promise.all(languages().map(interpreter))).flat(),
    ...(await examineEngine(io)),
    model(io),
  ];
}

function node(): MachineCheck {
  const { node: found } = process.versions;
  if (Number.parseInt(found, 10) >= OLDEST_NODE) return { id: 'node', ok: true, needed: true, found };
  return { id: 'node', ok: false, needed: true, found, advice: `Install Node ${OLDEST_NODE} or newer.` };
}

/** The interpreter of a language; skillcell's own Node is looked at above. */
async function interpreter(definition: LanguageDefinition): Promise<MachineCheck[]> {
  const { name, title, interpreters, imagePackages } = definition;
  if (interpreters === undefined) return [];
  const [debianPackage = name] = imagePackages['slim'] ?? [];
  const advice = `Install it for ${title} jobs: \`apt-get install ${debianPackage}\`.`;
  const path = findInterpreter(definition, process.execPath);
  if (path !== undefined) return [await program(name, path, false, advice)];
  return [{ id: name, ok: false, needed: false, found: `no ${interpreters.join(' or ')}`, advice }];
}

/** Sandboxes see only /usr, so programs elsewhere do not count. */
async function program(id: string, name: string, needed: boolean, advice: string): Promise<MachineCheck> {
  const { execa } = await import('execa');
  const path = '/usr/local/bin:/usr/bin:/bin';
  const result = await execa(name, ['--version'], {
    env: { PATH: path, LANG: 'C.UTF-8' },
    extendEnv: false,
    reject: false,
    stdin: 'ignore',
    timeout: 5_000,
  });
  const [line = ''] = (result.stdout || result.stderr).split('\n');
  if (result.failed) {
    const found = name.includes('/') ? `${name} does not answer to --version` : `no ${name} in ${path}`;
    return { id, ok: false, needed, found, advice };
  }
  return { id, ok: true, needed, found: line };
}

/** Checks the switches of kernels and distributions that forbid user namespaces. The probe of the runner decides. */
function userNamespaces(): MachineCheck {
  const forbidding = [
    { path: '/proc/sys/user/max_user_namespaces', forbids: '0' },
    { path: '/proc/sys/kernel/unprivileged_userns_clone', forbids: '0' },
    { path: '/proc/sys/kernel/apparmor_restrict_unprivileged_userns', forbids: '1' },
  ].find(({ path, forbids }) => readValue(path) === forbids);
  if (forbidding === undefined) {
    const most = readValue('/proc/sys/user/max_user_namespaces');
    return {
      id: 'user-namespaces',
      needed: true,
      ok: most !== undefined,
      found: most === undefined ? 'none' : `at most ${most}`,
    };
  }
  const { path, forbids } = forbidding;
  return {
    id: 'user-namespaces',
    ok: false,
    needed: true,
    found: `${path} is ${forbids}`,
    advice: `Allow them: ${forbids === '0' ? 'write a larger number' : 'write 0'} to ${path}, by sysctl to keep it.`,
  };
}

function controlGroups(): MachineCheck {
  const layout = controlGroupLayout();
  if (layout !== null)
    return { id: 'control-groups', ok: true, needed: false, found: `version ${layout.unified ? 2 : 1}, writable` };
  return {
    id: 'control-groups',
    ok: false,
    needed: false,
    found: 'not writable by this user',
    advice:
      'Jobs run without them, and memory is then measured several times a second. Delegate a group, or run as root.',
  };
}

function model(io: CliIo): MachineCheck {
  const advice = 'Set SKILLCELL_MODEL=PROVIDER/MODEL and its key for codegen jobs, or replay a recording.';
  try {
    const settings = readModelSettings(undefined, io.env);
    if (settings !== undefined)
      return { id: 'model', ok: true, needed: false, found: `${settings.provider}/${settings.model}` };
    return { id: 'model', ok: false, needed: false, found: 'none configured', advice };
  } catch (error) {
    return { id: 'model', ok: false, needed: false, found: (error as Error).message, advice };
  }
}

function readValue(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    // The switch does not exist on this kernel.
    return undefined;
  }
}
