/** Tokens of one model request; null if the service does not report them. */
export interface ModelUsage {
  inputTokens: number | null;
  outputTokens: number | null;
}

/** One turn of a conversation with a model. */
export interface ModelMessage {
  role: 'user' | 'assistant';
  content: string;
}

/** A request to a model. */
export interface ModelRequest {
  /** `provider/model`; without it the gateway's own model. */
  model?: string;
  system: string;
  messages: ModelMessage[];
  maxOutputTokens?: number;
}

/** An answer of a model. */
export interface ModelAnswer {
  text: string;
  usage: ModelUsage;
  /** `provider/model` that answered. */
  model: string;
  /** `stop`, `length`, `content-filter`, `tool-calls`, `error` or `other`. */
  finishReason: string;
}

/** The only way from a job to a model. Keys stay in the gateway: its answers and errors hold none. */
export interface ModelGateway {
  /** `provider/model`, or `replay`. */
  readonly id: string;
  /**
   * Asks the model once; retries are the gateway's own.
   *
   * @throws the signal's reason once it is aborted; otherwise a `SkillcellError` with a `model.` code
   * @example
   * ```ts
   * import type { ModelGateway } from 'skillcell';
   *
   * const model: ModelGateway = {
   *   id: 'example/echo',
   *   async generate({ messages }, { signal }) {
   *     signal.throwIfAborted();
   *     const text = messages.at(-1)?.content ?? '';
   *     return { text, model: 'example/echo', usage: { inputTokens: null, outputTokens: null }, finishReason: 'stop' };
   *   },
   * };
   * const request = { system: 'Say the same.', messages: [{ role: 'user' as const, content: 'Hello' }] };
   * console.log((await model.generate(request, { signal: AbortSignal.timeout(1_000) })).text);
   * // prints: Hello
   * ```
   */
  generate(request: ModelRequest, options: { signal: AbortSignal }): Promise<ModelAnswer>;
}
