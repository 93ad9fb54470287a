import type { SdkCall, SdkTools } from '../../tools/define/sdk-tools.ts';
import type { RunOutput } from '../sandbox-tools.ts';

/** A program that the model gave, and the call that it came with. */
export interface CodeRequest {
  code: string;
  call: SdkCall;
  /** What `run_code` itself has as its context. */
  context: unknown;
  /** Tools of the AI SDK that the program may call. */
  tools: SdkTools;
  signal: AbortSignal | undefined;
}

/** What runs programs, in sandboxes of their own or in a session. */
export interface CodeRunner {
  run(request: CodeRequest): Promise<RunOutput>;
  /** Refuses tools that programs could not call. @throws SkillcellError */
  requireBindable(tools: SdkTools): void;
}
