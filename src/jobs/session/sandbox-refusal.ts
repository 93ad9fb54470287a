import type { SessionFault } from '../../protocol/messages/session-messages.ts';

/** The failure of an operation, as the sandbox reports it. Its message is text of hostile code. */
export class SandboxRefusal extends Error {
  readonly fault: SessionFault | undefined;

  constructor(reason: string, fault?: SessionFault) {
    super(reason);
    this.fault = fault;
  }
}
