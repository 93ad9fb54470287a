import type { SkillExplanation, SkillPlace } from '../../../authoring/explain-skill.ts';
import type { CommandContext } from '../../options/flags/command.ts';
import { oneLine } from '../../../skills/text/text.ts';
import { explainInSources } from '../../options/skills/explain-in-sources.ts';
import { lockPlace } from '../../options/skills/lock-place.ts';
import { referenceError } from '../../options/skills/reference-error.ts';
import { readSkillsFlags } from '../../options/skills/skills-context.ts';
import { diagnosticLine } from '../../terminal/diagnostic-line.ts';
import { escapeLine } from '../../terminal/escape-controls.ts';

/** `skillcell skills explain`: exit code 1 when the consumer may not have the skill. */
export async function runExplain(context: CommandContext): Promise<number> {
  const { arguments: given, io, output, json } = context;
  const { sources, consumer, tools } = await readSkillsFlags(context);
  // Without a consumer, the host itself asks, and the host may see internal skills.
  const who = { consumer, tools, includeInternal: consumer === undefined };
  const ref = given.operands[0] ?? '';
  const { lockFile } = lockPlace(context);
  const { explanation, subsystem } = await explainInSources(sources, { ref, who, lockFile }, io);
  if (explanation.status === 'unknown')
    throw referenceError('explain the skill', subsystem.resolve([ref], who).rows, subsystem);
  if (json) await output.json(explanation);
  else await output.text(describe(explanation, consumer));
  return explanation.status === 'loaded' ? 0 : 1;
}

const SIGNS = { for: '+', against: '-', nothing: ' ' } as const;

function describe(explanation: SkillExplanation, consumer: string | undefined): string {
  const { id, status, offered, rules, patternsOfOthers, skill } = explanation;
  const verdict =
    status !== 'loaded' ? 'denied' : offered ? 'offered and loaded' : 'loaded on request, but not offered';
  const lines = [
    `${id}: ${verdict}${consumer === undefined ? '' : ` for ${consumer}`}`,
    ...rules.map(({ rule, says, reason }) => `  ${SIGNS[says]} ${rule}: ${reason}`),
    ...(rules.length === 0 ? ['  no rule applies to it'] : []),
    ...(patternsOfOthers === 0 ? [] : [`    ${othersText(patternsOfOthers)}`]),
  ];
  if (skill !== undefined) {
    const { name, version, digest, origin, approval, tokens, loads, imports, versions = [], diagnostics } = skill;
    lines.push(
      `name: ${name}${version === null ? '' : ` v${version}`}`,
      `origin: ${placeText(origin)}`,
      `digest: ${digest ?? 'not known before it is fetched'}`,
      `approval: ${approval === undefined ? 'it is not locked' : approval.by === null ? 'these bytes are not approved' : `by ${approval.by}`}`,
      `tokens: ~${tokens.body}, with its imports ~${tokens.withImports}`,
      ...loads.map(
        (each) =>
          `loads: ${each.id}${each.version === null ? '' : ` v${oneLine(each.version)}`} (~${each.tokens} tokens)`,
      ),
      ...imports.map(({ from: importer, to, state }) => `import: ${importer} → ${to} (${state})`),
      ...versions.map(
        (each) =>
          `beside it: ${each.version === null ? 'no version' : `v${oneLine(each.version)}`} in the ${placeText(each.origin)} (${each.reason})`,
      ),
      ...diagnostics.map(diagnosticLine),
    );
  }
  return `${lines.map(escapeLine).join('\n')}\n`;
}

function othersText(patterns: number): string {
  return patterns === 1
    ? '1 pattern of the policy matches only other skills'
    : `${patterns} patterns of the policy match only other skills`;
}

function placeText({ root, folder, from }: SkillPlace): string {
  if (from === undefined) return `${root} root, ${folder}`;
  return `${root} root, ${folder}, from ${from.type} ${from.source}${from.commit === undefined ? '' : ` at ${from.commit}`}`;
}
