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

/** Number of repeated requests in one round after an unusable answer. */
const REPAIRS = 1;
/** A larger catalog is shortened. */
const CATALOG_TOKENS = 16_000;
const NO_CATALOG = '[SKILL CATALOG]\n(no skills)\n';

/** Task, skills and model of a decision. */
export interface DecideOptions extends DecisionTask {
  skills: SkillsSubsystem | undefined;
  /** Fetches the chosen skills completely, if only the heads of some are known. */
  withWhole?: (refs: readonly string[]) => Promise<SkillsSubsystem | undefined>;
  /** The consumer whose policy selects the offered skills. */
  consumer: string;
  variant: SkillVariant;
  pool: readonly SourceRow[];
  /** The most bytes of a text, as JSON. */
  valueBytes: number;
  /** Asks the model; its errors end the decision. */
  ask(request: ModelRequest): Promise<ModelAnswer>;
}

/** A decision in progress. Its record is up to date even if a request fails. */
export interface Decision {
  readonly record: JobDecision;
  /** @throws errors of `ask` */
  readonly run: () => Promise<Decided>;
}

/** Result of a decision. */
export interface Decided {
  /** Full ids of the chosen skills, in the order of the answer. */
  chosen: string[];
  /** The block in the system prompt of the last round. */
  block: InstructionBlock | undefined;
  /** The action, or the reason why no answer was usable. */
  action: Read<DecidedAction>;
}

/**
 * Prepares the decision on a job. In the first round, the model reads the catalog and names skills. In the second round,
 * those skills are loaded, and the model answers with a text or hands a task over. Without offered skills there is only the
 * second round.
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
  const request: ModelRequest = { system: decisionSystem(gallery, '', options.network), messages: [] };
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
    request.system = decisionSystem(gallery, block.text, options.network);
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

/** Judgement on an answer. With both value and fault, the value is used if no further answer follows. */
interface Judged<T> {
  value?: T;
  fault?: string;
  rows?: ReferenceRow[];
}

/** Asks until an answer has no fault, at most twice. The answers stay in the messages of the request. */
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

/** The model is told about a reference to no skill. If it repeats the fault, the other references count as its choice. */
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
  // Denied and unknown references get the same text, so that models do not learn of denied skills.
  const names = wrong.map(({ ref }) => JSON.stringify(ref.slice(0, 80))).join(', ');
  const all = catalog.ids.length === 1 ? 'SK1' : `SK1 to SK${catalog.ids.length}`;
  return { value: rows, rows, fault: `The catalog has ${all}, and no ${names}.` };
}
