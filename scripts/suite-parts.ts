import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, matchesGlob } from 'node:path';

/**
 * A part of the tests. `quick` is `npm test`, for a change; `all` is `npm run test:all`; `rest` is `all` without `quick`, for a run of both in turn.
 */
export type SuitePart = 'quick' | 'rest' | 'all';

/** The variable that names the part of a run; without it all tests run. */
export const PART_VARIABLE = 'SKILLCELL_TESTS';

/**
 * Files that `npm test` leaves out. All other files belong to `npm test`, so that no file is forgotten: a file is quick, or runs a share of its tests
 * in `npm test`.
 */
export const ONLY_IN_ALL: readonly string[] = [
  // Attacks, and faults of a whole machine. Each needs its own sandboxes.
  'test/attacks/**',
  'test/chaos/**',
  'test/fuzz/**',
  // Programs, clients and conversations of third parties.
  'test/fidelity/**',
  'test/mcp/conformance.test.ts',
  'test/mcp/clients.test.ts',
  'test/mcp/client/servers.test.ts',
  'test/backend/pdf/read-pdf.test.ts',
  'test/archives/read-alike.test.ts',
  'test/ai/{sandbox-session,session-of-tools}.test.ts',
  // The installation and set-up of a user, and the output of the examples.
  'test/e2e/{example-programs,examples,installed-packages,packed-package,public-types,remote-engine,set-up}.test.ts',
  // All types of the library, which the compiler reads, and programs of this repository.
  'test/scripts/{build-runtime,closing-line-reporter,documented-options}.test.ts',
  // Every feature again, at each level, for another user or in another language.
  'test/e2e/{added-language,codegen,evaluate-skill,integrity,parity,without-bubblewrap}.test.ts',
  'test/cli/commands/{at-service,credential,eval,exec-language,mcp,pack-unpack,repl-terminal,serve,worker}.test.ts',
  'test/jobs/session/javascript-session.test.ts',
  'test/jobs/{run-script-tool,events/events,prepare/matched-skills,run/surroundings,run/tool-calls,skill-code/provider,skill-code/skill-code}.test.ts',
  'test/ai/network.test.ts',
  'test/runtime/languages/script-requirements.test.ts',
  'test/sandboxes/{third-runner,local/ordinary-user,local/runner-contract}.test.ts',
  'test/jobs/tracing/spans.test.ts',
  // Each case of a team's jobs in both databases; `npm test` has one in test/client.
  'test/server/team-jobs.test.ts',
  // Images, runtimes, addresses and faults of an engine.
  'test/sandboxes/docker/{data-image,engine-faults,image,kernel-level,other-runtime,probe-level}.test.ts',
  'test/jobs/{supply/docker-pool,sweep}.test.ts',
  'test/cli/docker-host.test.ts',
  'test/sandboxes/seccomp/{denied-calls,ordinary-work,seccomp-engine-profile}.test.ts',
  // Floods, faults of a disk or a server, and processes that meet in one folder.
  'test/mcp/{followed-skills,hostile-client}.test.ts',
  'test/mcp/client/{hostile,memory,server-life}.test.ts',
  'test/jobs/run/lost-sandboxes.test.ts',
  'test/sandboxes/fleet/{cut,fair-share,fleet-acl-ablation,lying-worker,servers-out-of-reach,unclosed}.test.ts',
  'test/worker/{host-health,odd-clock}.test.ts',
  'test/jobs/run/many-jobs.test.ts',
  'test/scan/{memory-of-a-scan,repeated-text}.test.ts',
  'test/library/{lock/two-writers,search/kept-index}.test.ts',
  'test/sandboxes/local/{host-mask,runtime-cache}.test.ts',
  'test/cli/{unusable-places,terminal/slow-pipe}.test.ts',
  'test/archives/{hostile-tar,hostile-zip}.test.ts',
  'test/library/{held-views,lock/read-lock,stores/cache/tree-cache}.test.ts',
  'test/server/{events,refusals,replicas}.test.ts',
  'test/client/lost-connections.test.ts',
  'test/bench/failing-subject.test.ts',
  'test/library/stores/git/{git-cache,git-network,git-token,hostile-repository,odd-repository}.test.ts',
  // Hostile programs and sandboxes: too much memory, closed folders, ends that never come, forged messages.
  'test/jobs/{prepare/closed-folders,supply/concurrency,run/hostile-entry,run/memory,run/process-end,skill-code/killed-host}.test.ts',
  'test/jobs/session/{hostile-session,interrupts,odd-workspace,resume,session-life}.test.ts',
  'test/cli/commands/exec-interrupted.test.ts',
  // One contract, for one more engine or store.
  'test/sandboxes/docker/runner-contract.test.ts',
  'test/library/stores/git/{git-conformance,git-store}.test.ts',
  'test/library/stores/mcp/mcp-store.test.ts',
  'test/backend/s3-backend.test.ts',
  // A server of buckets.
  'test/library/stores/s3/s3-on-ceph.test.ts',
  'test/cli/skills-add-s3.test.ts',
  'test/queue/seams/bucket-files.test.ts',
  // The clients of a network, which take seconds for each installation or repository, slow connections, and faults.
  'test/egress/{clients,packages,sandbox-without-network,upstream-proxy,without-network}.test.ts',
  'test/egress/certificates/{create-authority,strict-clients}.test.ts',
  'test/egress/worker/{answers,network-attacks,network-life,worker-death}.test.ts',
  'test/cli/commands/network-flags.test.ts',
  'test/egress/s3-through-worker.test.ts',
  'test/jobs/network/aws-secret-on-ceph.test.ts',
  'test/server/job-network.test.ts',
  // Thousands of made-up cases.
  'test/egress/secrets/{find-form,washer}.test.ts',
  'test/tools/declarations/tool-stubs-properties.test.ts',
  'test/evals/{judge-runs,statistics}.test.ts',
  'test/authoring/dialect.test.ts',
  'test/library/random-edits.test.ts',
  // Hundreds of rounds, on two databases.
  'test/registry/races.test.ts',
  'test/queue/replicas.test.ts',
  'test/server/{archive-process,fleet,hostile-memory,lost-disk,postgres-restart}.test.ts',
  'test/skills/match/needed-words.test.ts',
  // The console in a browser, which needs seconds for each page.
  'test/console/**',
];

/**
 * Test files that `test:rest` and `test:all` run a second time, with each sandbox on the worker of a fleet: the outcome of these suites depends on the
 * way that the bytes take. Other files run so with `SKILLCELL_TESTS_BY=fleet`.
 */
export const ONCE_MORE_BY_FLEET: readonly string[] = [
  'test/attacks/{b-limits,c-output,e-channel}.test.ts',
  'test/jobs/session/{interrupts,resume,session,session-life}.test.ts',
  'test/mcp/levels.test.ts',
];

/** Matches files that divide their tests between `npm test` and the rest: they import `test/fixtures/share.ts`, or levels that are divided. */
const SHARED = /^import .*(?:\b(?:EVERY_LEVEL|SHARED_LEVELS|NETWORK_LEVELS)\b.* from|\/share\.ts')/m;

/** The part of the tests that this process runs. */
export function suitePart(): SuitePart {
  const part = process.env[PART_VARIABLE] ?? 'all';
  if (part === 'quick' || part === 'rest' || part === 'all') return part;
  throw new Error(`Cannot choose tests: ${PART_VARIABLE} is quick, rest or all, got ${part}.`);
}

/** The files that a part runs a second time by a fleet. Without Redis they are left out, but not in CI. */
export function filesByFleet(part: SuitePart, root: string): string[] {
  const hasRedis = existsSync('/usr/bin/redis-server') || process.env['CI'] === 'true';
  if (part === 'quick' || !hasRedis || process.env['SKILLCELL_TESTS_BY'] !== undefined) return [];
  return globSync([...ONCE_MORE_BY_FLEET], { cwd: root });
}

/** The files of a part, by their path in the checkout. */
export function filesOf(part: SuitePart, root: string): string[] {
  const all = globSync('test/**/*.test.ts', { cwd: root });
  if (part === 'all') return all;
  const isQuick = (file: string): boolean => !ONLY_IN_ALL.some((pattern) => matchesGlob(file, pattern));
  if (part === 'quick') return all.filter(isQuick);
  return all.filter((file) => !isQuick(file) || SHARED.test(readFileSync(join(root, file), 'utf8')));
}
