/** Providers of models over the network. `openai` is `openai-compatible` at OpenAI's own address. */
export const MODEL_PROVIDERS = ['openai-compatible', 'openai', 'anthropic'] as const;

/** A provider of models. */
export type ModelProvider = (typeof MODEL_PROVIDERS)[number];

/** Model, address and key. */
export interface ModelSettings {
  provider: ModelProvider;
  /** The service's own name of the model. */
  model: string;
  baseUrl: string;
  /** Absent for services without keys. */
  apiKey?: string;
}
