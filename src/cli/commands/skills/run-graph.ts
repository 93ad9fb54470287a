import { graphDot, graphText } from '../../../authoring/draw-graph.ts';
import { importGraph } from '../../../authoring/import-graph.ts';
import { type CommandContext, flagValue } from '../../options/flags/command.ts';
import { noteLeftOut } from '../../options/skills/note-left-out.ts';
import { referenceError } from '../../options/skills/reference-error.ts';
import { openSkills } from '../../options/skills/skills-context.ts';
import { usageError } from '../../terminal/usage-error.ts';

/** `skillcell skills graph`: prints the imports of skills. */
export async function runGraph(context: CommandContext): Promise<number> {
  const { arguments: given, output, json } = context;
  const format = flagValue(given, 'format') ?? (json ? 'json' : 'text');
  if (given.flags.has('json') && format !== 'json')
    throw usageError('--format', '--json is the same as --format json', format);
  const { subsystem, consumer } = await openSkills(context, 'none');
  // Without a consumer, the host itself asks, and the host may see internal skills.
  const who = { consumer, includeInternal: consumer === undefined };
  const roots = rootsOf();
  const graph = importGraph(subsystem, roots, consumer);
  if (format !== 'json') await noteLeftOut(context, roots, subsystem, who);
  if (format === 'json') await output.json(graph);
  else await output.text(format === 'dot' ? graphDot(graph) : graphText(graph));
  return 0;

  function rootsOf(): string[] {
    if (given.operands.length === 0) return subsystem.visible(who).map(({ id }) => id);
    const { rows } = subsystem.resolve(given.operands, { ...who, catalog: subsystem.catalog({ consumer }) });
    const refused = rows.some(({ status }) => status === 'unknown' || status === 'denied');
    if (refused) throw referenceError('draw the graph', rows, subsystem);
    return rows.flatMap(({ id }) => (id === undefined ? [] : [id]));
  }
}
