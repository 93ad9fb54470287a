import type { ModelRetryOptions } from './model-retry.ts';

/** Options of every gateway that asks over the network. */
export interface SdkGatewayOptions {
  retry?: Partial<ModelRetryOptions> | undefined;
}
