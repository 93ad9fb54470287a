import { diagnostic, type Diagnostic } from '../../src/contracts/errors/diagnostic.ts';

/**
 * Diagnostics of doubts after the end of a run.
 *
 * @param dead whether all processes ended in time
 * @param whole whether the pipes of the output ended
 */
export function endDoubts(owner: 'program' | 'session', dead: boolean, whole: boolean): Diagnostic[] {
  const left = `Some processes of the ${owner} could not be ended in time; they end with the sandbox.`;
  const open = 'More output may follow: a process that was not found or did not end in time still held its pipe.';
  return [
    ...(dead ? [] : [diagnostic('processes.left', left)]),
    ...(whole ? [] : [diagnostic('output.incomplete', open)]),
  ];
}
