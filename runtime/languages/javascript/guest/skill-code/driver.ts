/**
 * The program of a sandbox for the code of one skill: loads it in place, says what it found, and makes the calls that the host asks
 * for. Its argument is the specification as JSON.
 */
import { join } from 'node:path';
import {
  ArgumentsFault,
  loadSkillCode,
  MissingModules,
  type LoadedTool,
  type SkillCodeSpec,
} from './load-skill-code.ts';

/** What the host wants next: a call, the end of one, or nothing yet. */
type Order = { call: { id: number; tool: string; args: unknown } } | { cancel: number } | null;

interface Bridge {
  call(target: 'tool', name: string, args: unknown): Promise<unknown>;
}

const bridge = (globalThis as unknown as Record<symbol, Bridge>)[Symbol.for('skillcell.bridge')] as Bridge;
const call = bridge.call.bind(bridge);
const answer = (args: object): Promise<unknown> => call('tool', 'skill-code.answer', args);

async function serve(spec: SkillCodeSpec): Promise<void> {
  let tools: ReadonlyMap<string, LoadedTool>;
  try {
    const loaded = await loadSkillCode(join(process.env['SKILLS_DIR'] ?? '', spec.skill.replace('.', '/')), spec);
    tools = new Map(loaded.map((tool) => [tool.name, tool]));
    await answer({ id: 0, tools: loaded.map(({ name, description, input }) => ({ name, description, input })) });
  } catch (error) {
    const missing = error instanceof MissingModules ? error.names : [];
    await answer({ id: 0, error: messageOf(error), missing });
    return;
  }
  const running = new Map<number, AbortController>();
  for (;;) {
    const order = (await call('tool', 'skill-code.next', {})) as Order;
    if (order === null) continue;
    if ('cancel' in order) running.get(order.cancel)?.abort();
    else {
      const controller = new AbortController();
      running.set(order.call.id, controller);
      void make(tools, order.call, controller.signal).finally(() => running.delete(order.call.id));
    }
  }
}

async function make(
  tools: ReadonlyMap<string, LoadedTool>,
  { id, tool, args }: { id: number; tool: string; args: unknown },
  signal: AbortSignal,
): Promise<void> {
  try {
    const value = await tools.get(tool)?.run(args, signal);
    await answer({ id, value: value ?? null });
  } catch (error) {
    // A result that cannot be sent is a failure as well; of a channel that is closed nobody hears.
    await answer({ id, error: messageOf(error), arguments: error instanceof ArgumentsFault }).catch(() => undefined);
  }
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 4_000);
}

await serve(JSON.parse(process.argv[2] ?? '{}') as SkillCodeSpec);
