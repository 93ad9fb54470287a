import { explainSkill, type SkillExplanation } from '../../authoring/explain-skill.ts';
import { provenanceBy } from '../../library/lock/provenance.ts';
import { readLock } from '../../library/lock/read-lock.ts';
import type { CommandContext } from '../options/command.ts';
import { oneLine } from '../../skills/text/text.ts';
import { lockPlace } from '../options/lock-place.ts';
import { referenceError } from '../options/reference-error.ts';
import { openSkills } from '../options/skills-context.ts';
import { diagnosticLine } from '../terminal/diagnostic-line.ts';
import { escapeLine } from '../terminal/escape-controls.ts';

/** `skillcell skills explain`: exit code 1 when the consumer may not have the skill. */
export async function runExplain(context: CommandContext): Promise<number> {
  const { arguments: given, output, json } = context;
  const { subsystem, consumer, tools } = await openSkills(context, 'none');
  // Whoever names no consumer is the host itself, which may look at internal skills.
  const who = { consumer, tools, includeInternal: consumer === undefined };
  const ref = given.operands[0] ?? '';
  const explanation = explainSkill(subsystem, ref, who, provenanceBy(readLock(lockPlace(context).lockFile)));
  if (explanation.status === 'unknown')
    throw referenceError('explain the skill', subsystem.resolve([ref], who).rows, subsystem);
  if (json) await output.json(explanation);
  else await output.text(describe(explanation, consumer));
  return explanation.status === 'loaded' ? 0 : 1;
}

const SIGNS = { for: '+', against: '-', nothing: ' ' } as const;

function describe({ id, status, offered, rules, skill }: SkillExplanation, consumer: string | undefined): string {
  const verdict =
    status !== 'loaded' ? 'denied' : offered ? 'offered and loaded' : 'loaded when asked for, and not offered';
  const lines = [
    `${id}: ${verdict}${consumer === undefined ? '' : ` for ${consumer}`}`,
    ...rules.map(({ rule, says, reason }) => `  ${SIGNS[says]} ${rule}: ${reason}`),
    ...(rules.length === 0 ? ['  no rule is about it'] : []),
  ];
  if (skill !== undefined) {
    const { name, version, digest, origin, approval, tokens, loads, imports, versions = [], diagnostics } = skill;
    const { from } = origin;
    const source =
      from === undefined
        ? ''
        : `, from ${from.type} ${from.source}${from.commit === undefined ? '' : ` at ${from.commit}`}`;
    lines.push(
      `name: ${name}${version === null ? '' : ` v${version}`}`,
      `origin: ${origin.root} root, ${origin.folder}${source}`,
      `digest: ${digest ?? 'not known before it is fetched'}`,
      `approval: ${approval === undefined ? 'it is not locked' : approval.by === null ? 'nobody approved these bytes' : `by ${approval.by}`}`,
      `tokens: ~${tokens.body}, with what it imports ~${tokens.withImports}`,
      ...loads.map(
        (each) =>
          `loads: ${each.id}${each.version === null ? '' : ` v${oneLine(each.version)}`} (~${each.tokens} tokens)`,
      ),
      ...imports.map(({ from: importer, to, state }) => `import: ${importer} → ${to} (${state})`),
      ...versions.map(
        (each) =>
          `beside it: ${each.version === null ? 'no version' : `v${oneLine(each.version)}`} in the ${each.origin.root} root, ${each.origin.folder} (${each.reason})`,
      ),
      ...diagnostics.map(diagnosticLine),
    );
  }
  return `${lines.map(escapeLine).join('\n')}\n`;
}
