import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { SandboxNetwork } from '../../src/contracts/jobs/globals.ts';
import type { Channel } from '../../src/protocol/channel/channel.ts';
import type { Privileges } from '../sandbox/privileges.ts';
import type { SandboxLayout } from '../sandbox/sandbox-layout.ts';
import { authorityFile, DOOR_PORT, npmrcFile } from './network-variables.ts';
import { type Door, openDoor } from './open-door.ts';

export { openDoor } from './open-door.ts';

/** The parts of the sandbox that its network needs. */
export interface NetworkSurroundings {
  channel: Channel;
  layout: SandboxLayout;
  privileges: Privileges;
}

/** Opens the door, and writes the files that programs need for it. User code has not begun yet. */
export async function openNetwork(
  { authority, connections, npmrc }: SandboxNetwork,
  { channel, layout, privileges }: NetworkSurroundings,
): Promise<Door> {
  const path = authorityFile(layout);
  privileges.asSupervisor(() => {
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
    writeFileSync(path, authority, { mode: 0o644 });
    if (npmrc !== undefined) writeFileSync(npmrcFile(layout), npmrc, { mode: 0o644 });
  });
  return await openDoor({ channel, port: DOOR_PORT, connections });
}
