import { JUDGE_CALL, MODEL_REQUEST_BYTES, refusal, type BrokerCall, type BrokerReply } from './broker-call.ts';
import { measureJson } from './measure-json.ts';

/** Says what is wrong with the value of a run. */
export type JudgeValue = (value: unknown) => Promise<{ fault?: string }>;

/** Answers the agent of a sandbox whether a value will do. What it says of its value at the end is judged again. */
export async function judgeValue({ name, args }: BrokerCall, judge: JudgeValue | undefined): Promise<BrokerReply> {
  if (name !== JUDGE_CALL || judge === undefined)
    return refusal('tool.not-allowed', 'the host cannot be asked for this');
  const measured = measureJson(args ?? null, { maxBytes: MODEL_REQUEST_BYTES });
  if ('fault' in measured) return { ok: true, value: { fault: measured.fault } };
  const { fault } = await judge(args);
  return { ok: true, value: fault === undefined ? {} : { fault } };
}
