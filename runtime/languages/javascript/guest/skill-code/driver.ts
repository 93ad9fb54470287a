/**
 * The program of a sandbox for the code of one skill: loads the code in place, reports its tools, and makes the calls that the host requests. Its
 * argument is the specification as JSON.
 */
import Module from 'node:module';
import { join } from 'node:path';
import type { SkillCodeSpec } from '../../../../../src/contracts/skills/skill-code-spec.ts';
import { ArgumentsFault, loadSkillCode, MissingModules, type LoadedTool } from './load-skill-code.ts';

/** The next order of the host: a call, the cancellation of a call, or none yet. */
type Order = { call: { id: number; tool: string; args: unknown } } | { cancel: number } | null;

interface Bridge {
  call(target: 'tool', name: string, args: unknown): Promise<unknown>;
}

const bridge = (Module as unknown as Record<symbol, { bridge: Bridge }>)[Symbol.for('skillcell.bridge')]
  ?.bridge as Bridge;
const call = bridge.call.bind(bridge);
const answer = (args: object): Promise<unknown> => call('tool', 'skill-code.answer', args);

/** A call that finishes within this time sends its answer with the next request for an order. */
const QUICK_MS = 2;

async function serve(spec: SkillCodeSpec): Promise<void> {
  let tools: ReadonlyMap<string, LoadedTool>;
  try {
    const loaded = await loadSkillCode(join(process.env['SKILLS_DIR'] ?? '', spec.skill.replace('.', '/')), spec);
    tools = new Map(loaded.map((tool) => [tool.name, tool]));
    const told = loaded.slice(0, spec.mostTools + 1);
    const rows = told.map(({ name, description, input }) => ({ name, description, input }));
    // The first order does not wait for the host's confirmation of the tools.
    void answerOrSay({ id: 0, tools: rows });
  } catch (error) {
    const missing = error instanceof MissingModules ? error.names : [];
    await answer({ id: 0, error: messageOf(error), missing });
    return;
  }
  const running = new Map<number, AbortController>();
  let ready: object | undefined;
  for (;;) {
    const order = await next(ready);
    ready = undefined;
    if (order === null) continue;
    if ('cancel' in order) {
      running.get(order.cancel)?.abort();
      continue;
    }
    const { id } = order.call;
    const controller = new AbortController();
    running.set(id, controller);
    const made = make(tools, order.call, controller.signal).finally(() => running.delete(id));
    ready = await quickly(made);
    if (ready === undefined) void made.then(answerOrSay);
  }
}

async function next(ready: object | undefined): Promise<Order> {
  try {
    return (await call('tool', 'skill-code.next', { answer: ready ?? null })) as Order;
  } catch (error) {
    // On a closed channel the error cannot be reported, and this process ends with the channel.
    if (ready === undefined) throw error;
    return (await call('tool', 'skill-code.next', { answer: unsendable(ready, error) })) as Order;
  }
}

/** The result if it arrives soon; otherwise undefined. */
async function quickly<T>(step: Promise<T>): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(resolve, QUICK_MS, undefined);
  });
  try {
    return await Promise.race([step, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** An answer that cannot be sent counts as a failure. */
async function answerOrSay(given: object): Promise<void> {
  await answer(given).catch((error: unknown) => answer(unsendable(given, error)));
}

/** The report of an answer that cannot be sent. */
function unsendable(given: object, error: unknown): object {
  const reason = messageOf(error).replace(/^Cannot make the call: the arguments are not acceptable: /, '');
  return { ...given, value: undefined, tools: undefined, error: reason, code: (error as { code?: unknown }).code };
}

async function make(
  tools: ReadonlyMap<string, LoadedTool>,
  { id, tool, args }: { id: number; tool: string; args: unknown },
  signal: AbortSignal,
): Promise<object> {
  try {
    return { id, value: (await tools.get(tool)?.run(args, signal)) ?? null };
  } catch (error) {
    return { id, error: messageOf(error), arguments: error instanceof ArgumentsFault };
  }
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 4_000);
}

await serve(JSON.parse(process.argv[2] ?? '{}') as SkillCodeSpec);
