import type { ModelAnswer, ModelGateway, ModelRequest } from '../models/model-gateway.ts';
import { promptDigest } from '../models/prompt-digest.ts';
import { usableAnswer } from '../models/usable-answer.ts';

/** A request that a model was made, and what it came to. */
export interface ObservedRequest {
  system: string;
  promptSha256: string;
  /** Absent as long as it was not answered. */
  answer?: ModelAnswer;
}

/** A gateway that is watched. */
export interface ObservedModel {
  gateway: ModelGateway;
  /** The requests since the last call, in order. */
  take(): ObservedRequest[];
}

/** Notes what a gateway is really asked: what a job says of its prompts is held against it. */
export function observeModel(inner: ModelGateway): ObservedModel {
  let requests: ObservedRequest[] = [];
  return {
    gateway: {
      id: inner.id,
      async generate(request: ModelRequest, options) {
        const observed: ObservedRequest = { system: request.system, promptSha256: promptDigest(request) };
        requests.push(observed);
        observed.answer = usableAnswer(await inner.generate(request, options), inner);
        return observed.answer;
      },
    },
    take() {
      const taken = requests;
      requests = [];
      return taken;
    },
  };
}
