import type { Generation } from '../../contracts/jobs/generation.ts';
import type { CallTotal, JobResult } from '../../contracts/jobs/result.ts';
import type { PreparedJob } from '../prepare/prepare-job.ts';
import type { SpanAttributes, SpanEnding } from '../tracing/trace-span.ts';

/** Attributes of a job that are known after its decision and before it runs. */
export function preparedAttributes({ language, active, tools }: PreparedJob): SpanAttributes {
  return {
    'skillcell.job.language': language,
    'skillcell.skill.ids': active,
    'skillcell.tool.count': tools.size,
  };
}

/** Ending of the span of a job: outcome, sandbox, usage and counts of its result. */
export function jobEnding(result: JobResult): SpanEnding {
  const { outcome, usage, stdout, stderr, artifacts, omitted, codegen } = result;
  const totals = Object.values(result.callTotals);
  return {
    error: outcome === 'succeeded' ? undefined : outcome,
    attributes: {
      'skillcell.job.outcome': outcome,
      'skillcell.job.limit': result.limit,
      'skillcell.sandbox.runner': result.runner,
      'skillcell.sandbox.isolation': result.isolation,
      'skillcell.sandbox.warm': usage.warm,
      'skillcell.sandbox.start_ms': usage.startMs,
      'skillcell.usage.cpu_ms': usage.cpuMs,
      'skillcell.usage.max_rss_bytes': usage.maxRssBytes,
      'skillcell.exit_code': result.exitCode,
      'skillcell.stdout.bytes': stdout.bytes,
      'skillcell.stderr.bytes': stderr.bytes,
      'skillcell.artifact.count': artifacts.length,
      'skillcell.artifact.omitted': omitted.length,
      'skillcell.call.count': sum(totals, 'calls'),
      'skillcell.call.failed': sum(totals, 'failed'),
      'skillcell.attempt.count': codegen?.attempts.length,
      'skillcell.diagnostic.count': result.diagnostics.length,
    },
  };
}

/** Ending of the span of a generation. */
export function generationEnding({ attempts, skills, diagnostics }: Generation): SpanEnding {
  return {
    attributes: {
      'skillcell.job.outcome': 'succeeded',
      'skillcell.skill.ids': skills.active,
      'skillcell.attempt.count': attempts,
      'skillcell.diagnostic.count': diagnostics.length,
    },
  };
}

function sum(totals: readonly CallTotal[], key: keyof CallTotal): number {
  return totals.reduce((total, row) => total + row[key], 0);
}
