import type { SdkCall, SdkTools } from '../../tools/define/sdk-tools.ts';
import type { RunOutput } from '../sandbox-tools.ts';

/** A program of the model, and the call that it came with. */
export interface CodeRequest {
  code: string;
  call: SdkCall;
  /** The context of `run_code` itself. */
  context: unknown;
  /** Tools of the AI SDK that the program may call. */
  tools: SdkTools;
  signal: AbortSignal | undefined;
}

/** Runs programs, in sandboxes of their own or in a session. */
export interface CodeRunner {
  run(request: CodeRequest): Promise<RunOutput>;
  /** Refuses tools that programs cannot call. @throws SkillcellError */
  requireBindable(tools: SdkTools): void;
}
