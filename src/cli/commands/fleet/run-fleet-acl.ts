import { aclLine, CLIENT_USER, clientRights, workerRights, workerUser } from '../../../sandboxes/fleet/fleet-acl.ts';
import { type CommandContext, flagValues } from '../../options/flags/command.ts';
import { checkFleetName, nameFromFlag } from '../../options/flags/fleet-flags.ts';
import { usageError } from '../../terminal/usage-error.ts';

/** `skillcell fleet acl`: prints the command of Redis that gives a worker, or the clients, their rights. Nothing is connected. */
export async function runFleetAcl(context: CommandContext): Promise<number> {
  const { arguments: given, output, json } = context;
  const worker = nameFromFlag(context, 'worker');
  const queues = flagValues(given, 'queue').map((name) => checkFleetName('--queue', name));
  const ofClient = given.flags.has('client');
  if ((worker !== undefined) === ofClient)
    throw usageError(
      ofClient ? '--client' : '--worker',
      'the rights are those of --worker NAME or of --client',
      worker ?? '',
    );
  if (worker === undefined && queues.length > 0)
    throw usageError('--queue', 'a client may use all queues', queues.join(' '));
  const user = worker === undefined ? CLIENT_USER : workerUser(worker);
  const rights =
    worker === undefined ? clientRights() : workerRights(worker, queues.length === 0 ? ['default'] : queues);
  const line = aclLine(user, rights);
  if (json) await output.json({ user, line });
  else {
    await output.text(`${line}\n`);
    await output.note(`A new user is off and has no password: ACL SETUSER ${user} on >PASSWORD`);
  }
  return 0;
}
