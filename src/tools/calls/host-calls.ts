import { MODEL_REQUEST_BYTES, refusal, type BrokerCall, type BrokerReply } from './broker-call.ts';
import { measureJson } from './measure-json.ts';

/** Answers to the agent's calls to the host itself, by name. Arguments are hostile JSON of any form. */
export type HostCalls = ReadonlyMap<string, (args: unknown) => Promise<BrokerReply & { ok: true }>>;

/** Makes one call of the agent to the host. */
export async function askHost({ name, args }: BrokerCall, calls: HostCalls | undefined): Promise<BrokerReply> {
  const call = calls?.get(name);
  if (call === undefined) return refusal('tool.not-allowed', 'the host cannot be asked for this');
  const measured = measureJson(args ?? null, { maxBytes: MODEL_REQUEST_BYTES });
  if ('fault' in measured)
    return refusal('tool.invalid-arguments', `the arguments are not acceptable: ${measured.fault}`);
  return call(args);
}
