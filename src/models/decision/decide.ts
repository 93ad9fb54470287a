import { promptDigest } from '../prompt-digest.ts';
import type { ModelAnswer, ModelRequest } from '../model-gateway.ts';
import type { JobDecision } from '../../contracts/jobs/decision.ts';
import type { ReferenceRow, SkillVariant, SourceRow } from '../../contracts/skills/skill.ts';
import { takeCatalog, type Catalog, type InstructionBlock, type SkillsSubsystem } from '../../skills/index.ts';
import {
  actMessage,
  chooseMessage,
  decisionFaultMessage,
  decisionSystem,
  needsProgram,
  taskMessage,
  type DecisionTask,
} from './decision-prompt.ts';
import { readAction, readChoice, type DecidedAction, type Read } from './read-decision.ts';

/** How often a round is asked again for an answer that cannot be taken. */
const REPAIRS = 1;
/** A catalog that is larger is written more briefly. */
const CATALOG_TOKENS = 16_000;
const NO_CATALOG = '[SKILL CATALOG]\n(no skills)\n';

/** What a decision is made with. */
export interface DecideOptions extends DecisionTask {
  skills: SkillsSubsystem | undefined;
  /** Fetches those whole that were chosen, where some are known by their heads. */
  withWhole?: (refs: readonly string[]) => Promise<SkillsSubsystem | undefined>;
  /** Whose policy says which skills are offered. */
  consumer: string;
  variant: SkillVariant;
  pool: readonly SourceRow[];
  /** Bytes that a text may have, as JSON. */
  valueBytes: number;
  /** Asks the model; what it throws ends the decision. */
  ask(request: ModelRequest): Promise<ModelAnswer>;
}

/** A decision under way: its record is as far as the decision is, also when asking fails. */
export interface Decision {
  readonly record: JobDecision;
  /** @throws what `ask` throws */
  readonly run: () => Promise<Decided>;
}

/** What a decision came to. */
export interface Decided {
  /** Full ids of the chosen skills, in the order of the answer. */
  chosen: string[];
  /** The block that the last round had in its system prompt. */
  block: InstructionBlock | undefined;
  /** What to do, or why no answer could be taken. */
  action: Read<DecidedAction>;
}

/**
 * Prepares the decision on a job: a first round, in which the model reads the catalog and names skills, and a second one, with those
 * skills loaded, in which it answers with a text or hands a task over. Without a skill to offer there is only the second.
 */
export function createDecision(options: DecideOptions): Decision {
  const { skills, consumer } = options;
  const tools = options.tools.map(({ id }) => id);
  const catalog = skills?.catalog({ consumer, tools }) ?? takeCatalog(consumer, []);
  const record: JobDecision = { catalogDigest: catalog.digest, rounds: [], action: null };
  return { record, run: () => decide(options, catalog, record) };
}

async function decide(options: DecideOptions, catalog: Catalog, record: JobDecision): Promise<Decided> {
  const { skills, consumer } = options;
  const gallery = skills?.skillsGalleryText({ consumer, catalog, budget: CATALOG_TOKENS }).text ?? NO_CATALOG;
  const request: ModelRequest = { system: decisionSystem(gallery, ''), messages: [] };
  let chosen: string[] = [];
  let block: InstructionBlock | undefined;
  if (skills === undefined || catalog.ids.length === 0) {
    request.messages.push({ role: 'user', content: taskMessage(options) });
  } else {
    request.messages.push({ role: 'user', content: chooseMessage(options) });
    const { value: rows, fault } = await askRound(options, request, record, (answer, cutOff) =>
      judgeChoice(readChoice(answer, cutOff), catalog, options, skills),
    );
    if (rows === undefined) return { chosen, block, action: { fault } };
    chosen = rows.flatMap(({ id, status }) => (status === 'loaded' && id !== undefined ? [id] : []));
    const whole = (await options.withWhole?.(chosen)) ?? skills;
    block = whole.buildSkillsInstructionBlock({
      refs: chosen,
      consumer,
      variant: options.variant,
      pool: options.pool,
    });
    request.system = decisionSystem(gallery, block.text);
    request.messages.push({ role: 'user', content: actMessage(rows, options) });
  }
  const { value, fault } = await askRound(options, request, record, (answer, cutOff) => {
    const read = readAction(answer, cutOff, { program: needsProgram(options), valueBytes: options.valueBytes });
    return 'fault' in read ? { fault: read.fault } : { value: read.value };
  });
  if (value === undefined) return { chosen, block, action: { fault } };
  record.action = value.action;
  return { chosen, block, action: { value } };
}

/** What an answer came to. With both, the value is what is taken where no other answer follows. */
interface Judged<T> {
  value?: T;
  fault?: string;
  rows?: ReferenceRow[];
}

/** Asks until an answer has no fault, once more at most. The answers stay in the messages of the request. */
async function askRound<T>(
  { ask }: DecideOptions,
  request: ModelRequest,
  record: JobDecision,
  judge: (answer: string, cutOff: boolean) => Judged<T>,
): Promise<{ value: T | undefined; fault: string }> {
  for (let repairs = 0; ; repairs += 1) {
    const { text, usage, finishReason } = await ask(structuredClone(request));
    const { value, fault = '', rows = [] } = judge(text, finishReason === 'length');
    record.rounds.push({
      promptSha256: promptDigest(request),
      chosen: rows,
      usage,
      ...(fault === '' ? {} : { fault }),
    });
    // Services refuse messages without text.
    request.messages.push({ role: 'assistant', content: text.trim() === '' ? '(no text)' : text });
    if (fault === '' || repairs >= REPAIRS) return { value, fault };
    request.messages.push({ role: 'user', content: decisionFaultMessage(fault) });
  }
}

/** A reference that means nothing goes back to the model; where it does so again, the others are what was chosen. */
function judgeChoice(
  read: Read<string[]>,
  catalog: Catalog,
  { consumer }: DecideOptions,
  skills: SkillsSubsystem,
): Judged<ReferenceRow[]> {
  if ('fault' in read) return { fault: read.fault };
  const offered = new Set(catalog.ids);
  const rows = skills.resolve(read.value, { consumer, catalog }).rows.map((row): ReferenceRow => {
    const hidden = row.status === 'loaded' && row.id !== undefined && !offered.has(row.id);
    return hidden ? { ...row, status: 'denied', reason: 'it is not in the catalog' } : row;
  });
  const wrong = rows.filter(({ status }) => status === 'unknown' || status === 'denied');
  if (wrong.length === 0) return { value: rows, rows };
  // The same words for both: what a consumer may not have is not there for its models.
  const names = wrong.map(({ ref }) => JSON.stringify(ref.slice(0, 80))).join(', ');
  const all = catalog.ids.length === 1 ? 'SK1' : `SK1 to SK${catalog.ids.length}`;
  return { value: rows, rows, fault: `The catalog has ${all}, and no ${names}.` };
}
