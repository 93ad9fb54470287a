import { LIBRARY_ERRORS } from './library-errors.ts';
import { SERVICE_ERRORS } from './service-errors.ts';

/** Properties of an error code. `exitCode` is the exit code of the CLI, `http` the status of the service. */
export interface ErrorEntry {
  http: number;
  exitCode: 2 | 3 | 4;
  /** True if the same call may succeed later without a change. */
  retry: boolean;
  /** One line of advice. */
  advice: string;
  /** True if a runner cannot be used here: `auto` then tries the next one. */
  ofRunner?: true;
}

const OWN_ERRORS = {
  'usage.invalid': {
    http: 400,
    exitCode: 2,
    retry: false,
    advice: 'Correct the named flag or argument; `skillcell --help` lists them.',
  },
  'options.invalid': {
    http: 400,
    exitCode: 2,
    retry: false,
    advice: 'Correct the named option; docs/library.md has them all.',
  },
  'job.invalid': { http: 400, exitCode: 2, retry: false, advice: 'Correct the named field of the job.' },
  'network.rule-invalid': {
    http: 400,
    exitCode: 2,
    retry: false,
    advice: 'Write a rule as `[METHOD,METHOD ]HOST[:PORT][/PATH]`; docs/network.md has the form.',
  },
  'network.not-allowed': {
    http: 403,
    exitCode: 2,
    retry: false,
    advice: 'Ask only for hosts that `network.allow` of the orchestrator, or `--allow-host`, covers.',
  },
  'secret.unknown': {
    http: 400,
    exitCode: 2,
    retry: false,
    advice: 'Name a secret of `network.secrets` of the orchestrator, or give it with `--secret`.',
  },
  'packages.refused': {
    http: 400,
    exitCode: 2,
    retry: false,
    advice:
      'Name a package with a version, a range or a tag, such as `is-odd@3` or `tinypkg==1.0`; docs/network.md has the forms.',
  },
  'file.unreadable': {
    http: 400,
    exitCode: 2,
    retry: false,
    advice: 'Name a regular file that can be read and is not larger than its limit.',
  },
  'tool.schema-unsupported': {
    http: 400,
    exitCode: 2,
    retry: false,
    advice: 'Use keywords that can be enforced, or give the tool a zod schema; docs/tools.md lists the keywords.',
  },
  'tool.name-conflict': {
    http: 409,
    exitCode: 2,
    retry: false,
    advice: 'Give the MCP server another alias, or leave one of the two tools out.',
  },
  'skills.root-missing': {
    http: 400,
    exitCode: 2,
    retry: false,
    advice: 'Create the folder, or correct the root in the descriptor or on the command line.',
  },
  'skills.descriptor-invalid': {
    http: 400,
    exitCode: 2,
    retry: false,
    advice: 'Correct the descriptor; `skillcell skills descriptor` prints a valid one.',
  },
  'skills.reference-unknown': {
    http: 400,
    exitCode: 2,
    retry: false,
    advice: 'Use an id that `skillcell skills list` shows.',
  },
  'skills.reference-denied': {
    http: 403,
    exitCode: 2,
    retry: false,
    advice:
      'The policy of this consumer forbids the skill, or the job lacks a tool that it requires: the message says which. Ask for another skill, change agents_config, or give the tool.',
  },
  'skills.invalid': {
    http: 400,
    exitCode: 2,
    retry: false,
    advice: 'Correct the skill; `skillcell skills validate` names each fault.',
  },
  'skills.too-large': {
    http: 413,
    exitCode: 2,
    retry: false,
    advice: 'Ask for fewer or smaller skills; a job carries at most 64 MiB of them.',
  },
  'skills.digest-mismatch': {
    http: 409,
    exitCode: 4,
    retry: true,
    advice: 'A skill changed while it was sent. Start the job again after all writes to the skill have ended.',
  },
  'skills.instruction-mismatch': {
    http: 500,
    exitCode: 4,
    retry: false,
    advice: 'Host and sandbox render skills differently; rebuild the runtime bundle.',
  },
  'script.not-listed': {
    http: 404,
    exitCode: 2,
    retry: false,
    advice:
      'Name a file below scripts/, or a file that the skill lists under `scripts`; `skillcell skills show REF` lists them.',
  },
  'script.interpreter-unknown': {
    http: 400,
    exitCode: 2,
    retry: false,
    advice:
      'Begin the script with #! and python3, node, bash, sh or `uv run --script`, or end its name with .py, .js, .mjs, .ts or .sh.',
  },
  'script.requirements-missing': {
    http: 503,
    exitCode: 3,
    retry: false,
    advice:
      'Install the packages where sandboxes run (`skillcell image build --flavor data` has some), or relax the requirements in the script; correct a block that cannot be read.',
  },
  'skill-code.invalid': {
    http: 400,
    exitCode: 2,
    retry: false,
    advice: 'Correct `toolsets`, `provider` or `tools` in the frontmatter of the skill.',
  },
  'skill-code.dependency-missing': {
    http: 503,
    exitCode: 3,
    retry: false,
    advice: 'Use an image that has the modules, ship them in the skill, or correct its `dependencies`.',
  },
  'skill-code.load-failed': {
    http: 422,
    exitCode: 2,
    retry: false,
    advice:
      'Correct the code of the skill, or let the job name no tools; docs/skill-code.md describes the required form.',
  },
  'skill-code.name-conflict': {
    http: 409,
    exitCode: 2,
    retry: false,
    advice: 'Leave one of the skills out, or rename one of the tools.',
  },
  'skill-code.changed': {
    http: 409,
    exitCode: 4,
    retry: false,
    advice: 'The code of the skill describes itself differently each time. Do not trust it before you know the reason.',
  },
  'skill-code.not-trusted': {
    http: 403,
    exitCode: 2,
    retry: false,
    advice: "Let the code run in sandboxes (`skillCode: 'sandbox'`), or name the skill's root in `trustedSkillRoots`.",
  },
  'packages.unavailable': {
    http: 503,
    exitCode: 3,
    retry: false,
    advice:
      'Install npm or pip where sandboxes find it, or build the image of the flavor network; docs/network.md says where.',
  },
  'secret.unavailable': {
    http: 503,
    exitCode: 3,
    retry: true,
    advice: 'Give the secret a value of at least 8 bytes without control characters.',
  },
  'runner.isolation-unmet': {
    http: 503,
    exitCode: 3,
    retry: false,
    advice: '`skillcell doctor` shows the levels that this machine reaches, and how to reach the others.',
    ofRunner: true,
  },
  'runner.unavailable': {
    http: 503,
    exitCode: 3,
    retry: false,
    advice: 'Choose a runner that `skillcell doctor` shows as available.',
    ofRunner: true,
  },
  'engine.unavailable': {
    http: 503,
    exitCode: 3,
    retry: true,
    advice: 'Start the Docker engine, or set DOCKER_HOST to one that answers; `skillcell doctor` shows more.',
    ofRunner: true,
  },
  'engine.failed': {
    http: 502,
    exitCode: 4,
    retry: true,
    advice: 'The engine refused the request or broke off; its own log has the reason. Try again.',
  },
  'image.missing': {
    http: 503,
    exitCode: 3,
    retry: false,
    advice: 'Build the image of the sandboxes: `skillcell image build`.',
    ofRunner: true,
  },
  'image.stale': {
    http: 503,
    exitCode: 3,
    retry: false,
    advice: 'The image holds another version of the runtime. Build it again: `skillcell image build`.',
    ofRunner: true,
  },
  'image.build-failed': {
    http: 503,
    exitCode: 3,
    retry: true,
    advice:
      'Read the end of the build output; without a registry, the build needs mmdebstrap, a Debian mirror and root.',
  },
  'runtime.missing': {
    http: 503,
    exitCode: 3,
    retry: false,
    advice: 'Install the interpreter for this language on the machine that runs the sandbox.',
  },
  'runtime.node-too-old': {
    http: 503,
    exitCode: 3,
    retry: false,
    advice: 'Install Node 24 or newer and run the same command with it.',
  },
  'runtime.setup-failed': {
    http: 503,
    exitCode: 3,
    retry: true,
    advice: 'Connect to the network or fix the cause in the message, then run the same command again.',
  },
  'runtime.bundle-missing': {
    http: 503,
    exitCode: 3,
    retry: false,
    advice: 'Build the runtime bundle: `npm run build` in a checkout, or install the package again.',
  },
  'sandbox.start-failed': {
    http: 503,
    exitCode: 4,
    retry: true,
    advice: 'Run `skillcell doctor`; it names the reason why no sandbox starts.',
  },
  'sandbox.lost': {
    http: 500,
    exitCode: 4,
    retry: true,
    advice: 'The sandbox ended without a result. Try again; if it repeats, run `skillcell doctor`.',
  },
  'fleet.unavailable': {
    http: 503,
    exitCode: 3,
    retry: true,
    ofRunner: true,
    advice:
      'Start the Redis of the fleet, or check its address; `skillcell doctor --fleet-file FILE` names the reason.',
  },
  'fleet.refused': {
    http: 503,
    exitCode: 3,
    retry: false,
    ofRunner: true,
    advice: 'Check user, password and rights of the fleet; `skillcell fleet acl` prints the rights that are needed.',
  },
  'channel.protocol': {
    http: 500,
    exitCode: 4,
    retry: false,
    advice: 'The sandbox sent an invalid frame and was ended.',
  },
  'model.not-configured': {
    http: 503,
    exitCode: 3,
    retry: false,
    advice: 'Set SKILLCELL_MODEL and its key, pass --model, or replay a recording with --replay.',
  },
  'model.failed': {
    http: 502,
    exitCode: 4,
    retry: true,
    advice: 'The model service gave no usable answer; try again later.',
  },
  'model.refused': {
    http: 502,
    exitCode: 3,
    retry: false,
    advice: 'The model service refused the request; check the key, the model name and the base URL.',
  },
  'model.answer-invalid': {
    http: 502,
    exitCode: 4,
    retry: true,
    advice: 'Loosen the schema, describe it in the prompt, or allow more attempts.',
  },
  'model.replay-mismatch': {
    http: 409,
    exitCode: 2,
    retry: false,
    advice: 'The prompt is not the recorded one; record again with --record, or undo the change.',
  },
  'call.refused': {
    http: 403,
    exitCode: 2,
    retry: false,
    advice: 'Call a tool that the job lists, within the limit of calls.',
  },
  'artifact.evicted': {
    http: 410,
    exitCode: 4,
    retry: false,
    advice: 'Read artifacts soon after their job, name an `output` folder, or raise `keptArtifactBytes`.',
  },
  'artifact.write-failed': {
    http: 500,
    exitCode: 3,
    retry: true,
    advice: 'Check space and permissions of the output folder.',
  },
  'state.write-failed': {
    http: 500,
    exitCode: 4,
    retry: true,
    advice: 'Check space and permissions of the state folder.',
  },
  'job.host-lost': {
    http: 500,
    exitCode: 4,
    retry: true,
    advice: 'The host ended before the job did. Submit it again.',
  },
  'session.busy': {
    http: 429,
    exitCode: 3,
    retry: true,
    advice: 'Wait for runs of the session to end before you start more.',
  },
  'session.ended': {
    http: 410,
    exitCode: 2,
    retry: false,
    advice: 'Open a new session, or resume this one if it ended because it was idle and `stateDir` is set.',
  },
  'session.too-many': {
    http: 429,
    exitCode: 3,
    retry: true,
    advice: 'Close a session that you no longer need, or raise `maxSessions`.',
  },
  'session.unknown': {
    http: 404,
    exitCode: 2,
    retry: false,
    advice: 'Resume a session that ended because it was idle, with the same `stateDir`.',
  },
  'archive.refused': {
    http: 400,
    exitCode: 2,
    retry: false,
    advice:
      'Give an archive of regular files and folders within the limits; docs/archives.md lists the limits of skills.',
  },
  'skills.version-unmet': {
    http: 409,
    exitCode: 2,
    retry: false,
    advice: 'Ask for compatible versions; the message names both sides.',
  },
  'mcp.invalid': {
    http: 400,
    exitCode: 2,
    retry: false,
    advice: 'Correct the file of MCP servers, or the named setting; docs/mcp.md has the form.',
  },
  'mcp.unavailable': {
    http: 503,
    exitCode: 3,
    retry: true,
    advice: 'Start the MCP server, or correct its command or address; its own log has the reason.',
  },
  'eval.invalid': {
    http: 400,
    exitCode: 2,
    retry: false,
    advice: 'Correct the named field of evals/evals.json; docs/evals.md has the form.',
  },
  'orchestrator.closed': {
    http: 503,
    exitCode: 4,
    retry: false,
    advice: 'The orchestrator was closed; create a new one.',
  },
  'orchestrator.queue-full': {
    http: 429,
    exitCode: 4,
    retry: true,
    advice: 'Too many jobs are waiting; try again later or raise the limit of the queue.',
  },
  'internal.fault': {
    http: 500,
    exitCode: 4,
    retry: false,
    advice: 'This is a fault of skillcell; please report it with the message.',
  },
} as const;

/** The closed list of error codes. `docs/errors.md` is generated from it. */
export const ERROR_REGISTRY: typeof OWN_ERRORS & typeof LIBRARY_ERRORS & typeof SERVICE_ERRORS = {
  ...OWN_ERRORS,
  ...LIBRARY_ERRORS,
  ...SERVICE_ERRORS,
};

/** A code of the closed error registry. */
export type ErrorCode = keyof typeof ERROR_REGISTRY;

/** The registry entry of a code. */
export function errorEntry(code: ErrorCode): ErrorEntry {
  return ERROR_REGISTRY[code];
}
