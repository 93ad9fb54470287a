import type { JobEvent } from '../contracts/jobs/events.ts';

/** One line of progress for people who watch a job; undefined for events without a line. */
export function progressLine(event: JobEvent): string | undefined {
  switch (event.type) {
    case 'started':
      return [
        `runner ${event.runner}, isolation ${event.isolation}${event.warm ? ', warm' : ''}${event.worker === undefined ? '' : `, worker ${event.worker}`}`,
        ...reasons(event),
      ].join('; ');
    case 'waiting':
      return `waiting for a sandbox: ${event.reason}`;
    case 'restarted':
      return `attempt ${event.attempt} begins: ${event.reason}`;
    case 'skills':
      return event.skills.active.length === 0 ? undefined : `skills ${event.skills.active.join(', ')}`;
    case 'attempt':
      return `attempt ${event.attempt} of ${event.maxAttempts}: ${event.phase === 'asking' ? 'asking the model' : 'running the code'}`;
    case 'call':
      return `call of ${event.call.target} ${event.call.name} ${event.call.ok ? 'answered' : 'refused'} in ${Math.round(event.call.durationMs)} ms`;
    case 'approval':
      return `call of ${event.tool} ${event.phase === 'asked' ? 'waits to be allowed' : event.phase}`;
    case 'artifact':
      return `artifact ${event.artifact.path}, ${event.artifact.bytes} bytes`;
    case 'decision':
      return `decided: ${event.decision.action ?? 'nothing'}`;
    case 'prompt':
      return event.stage === 'decision' ? `decision, request ${event.round}: asking the model` : undefined;
    case 'accepted':
    case 'text':
    case 'code':
    case 'run':
    case 'output':
    case 'network':
    case 'result':
    case 'finished':
    case 'faulted':
      return undefined;
  }
}

/** Why the job does not run on its preferred runner. */
function reasons({ diagnostics }: JobEvent & { type: 'started' }): string[] {
  return diagnostics.filter(({ code }) => code === 'runner.passed-over').map(({ message }) => message);
}
