import type { FileOperation } from '../../../../src/protocol/messages/session-messages.ts';

/** A request of the supervisor for an operation on files. */
export interface FileMessage {
  type: 'file';
  id: number;
  op: FileOperation;
  path: string;
  /** Whether it reaches files as a program does: by any path, and through links. */
  follow: boolean;
  /** Most bytes to send. */
  maxBytes: number;
  /** The workspace. */
  folder: string;
}
