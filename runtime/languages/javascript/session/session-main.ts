/** The main module of a session in JavaScript or TypeScript. */
import Module from 'node:module';
import { connectBridge } from '../bridge.ts';
import { BRIDGE, type HeldProgram } from '../bridge-registry.ts';
import type { ToldValue } from './cell-reporter.ts';
import { startSession, type CellMessage, type CellRunner, type SessionMessage } from './session.ts';
import { replaceStandardStreams } from './whole-output.ts';

/** Requests that a session gets once it waits. */
type SessionRequest = CellMessage | { type: 'interrupt'; run: number; count: number } | { type: 'end' };

replaceStandardStreams();
withoutExperimentalWarnings();
const held = (Module as unknown as Record<symbol, HeldProgram>)[BRIDGE] as HeldProgram;
let set: ToldValue | undefined;
const { bridge, link } = connectBridge(held, new URL('../guest/', import.meta.url).href, {
  message(request) {
    const { type, ...rest } = request as SessionRequest;
    if (type === 'cell') session.run(request as CellMessage);
    else if (type === 'end') session.end();
    else session.interrupt((rest as { run: number }).run, (rest as { count: number }).count);
  },
  // The supervisor has closed the link, so no caller is left.
  closed: () => process.exit(70),
  setValue: (json) => (set = json),
});
held.bridge = bridge;
const takeSet = (): ToldValue | undefined => {
  const taken = set;
  set = undefined;
  return taken;
};
const session: CellRunner = await startSession(held.session as SessionMessage, { link, takeSet, bridge });
link.send({ type: 'waiting' });

/** A session imports and evaluates in ways that Node still calls experimental; user code did not choose them. */
function withoutExperimentalWarnings(): void {
  const { emitWarning } = process;
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    const name = typeof rest[0] === 'string' ? rest[0] : (rest[0] as { type?: string } | undefined)?.type;
    if (name !== 'ExperimentalWarning') Reflect.apply(emitWarning, process, [warning, ...rest]);
  };
}
