import type { BenchmarkGroup } from './benchmark-group.ts';
import { LIBRARY_GROUPS } from './library-groups.ts';

/** The groups in the order in which they run. Each is loaded at its turn, so that its modules do not affect the others. */
export const GROUPS: Readonly<Record<string, () => Promise<BenchmarkGroup>>> = {
  local: async () => (await import('./local-exec.ts')).localExec,
  'local.sustained': async () => (await import('./local-sustained.ts')).localSustained,
  'local.stdout1g': async () => (await import('./local-stdout.ts')).localStdout,
  docker: async () => (await import('./docker-exec.ts')).dockerExec,
  'docker.throughput': async () => (await import('./docker-throughput.ts')).dockerThroughput,
  'docker.idle': async () => (await import('./docker-idle.ts')).dockerIdle,
  'docker.peers': async () => (await import('./docker-peers.ts')).dockerPeers,
  'tools.namespace': async () => (await import('./tool-calls.ts')).toolsNamespace,
  'tools.docker': async () => (await import('./tool-calls.ts')).toolsDocker,
  session: async () => (await import('./session-runs.ts')).sessionRuns,
  mcp: async () => (await import('./mcp-calls.ts')).mcpCalls,
  'egress.namespace': async () => (await import('./egress.ts')).egressNamespace,
  'egress.docker': async () => (await import('./egress.ts')).egressDocker,
  serve: async () => (await import('./serve.ts')).serve,
  fleet: async () => (await import('./fleet.ts')).fleet,
  channel: async () => (await import('./channel-control.ts')).channelControl,
  start: async () => (await import('./packed-start.ts')).packedStart,
  entry: async () => (await import('./entry-load.ts')).entryLoad,
  'skills.load1000': async () => (await import('./skills-load.ts')).skillsLoad,
  'skills.rebuild5': async () => (await import('./skills-rebuild.ts')).skillsRebuild,
  'skills.match1000': async () => (await import('./skills-match.ts')).skillsMatch,
  ...LIBRARY_GROUPS,
  otel: async () => (await import('./job-spans.ts')).jobSpans,
  skillcode: async () => (await import('./skill-code.ts')).skillCode,
  skills: async () => (await import('./skills-prompt.ts')).skillsPrompt,
};
