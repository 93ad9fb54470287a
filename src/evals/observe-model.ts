import type { ModelAnswer, ModelGateway, ModelRequest } from '../models/model-gateway.ts';
import { promptDigest } from '../models/prompt-digest.ts';
import { usableAnswer } from '../models/usable-answer.ts';

/** A request to a model, and its answer. */
export interface ObservedRequest {
  system: string;
  promptSha256: string;
  /** Absent until it is answered. */
  answer?: ModelAnswer;
}

/** A gateway that records its requests. */
export interface ObservedModel {
  gateway: ModelGateway;
  /** The requests since the last call, in order. */
  take(): ObservedRequest[];
}

/** Records the requests that a gateway really gets, to compare them with the prompts that a job reports. */
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
