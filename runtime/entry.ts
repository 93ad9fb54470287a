/**
 * The trusted process inside a sandbox. A runner starts it with its arguments and a channel; started by hand, without
 * them, it rebuilds and renders the skills of the globals that its environment names.
 */
import { serveChannel } from './serve-channel.ts';

const args = process.argv.slice(2);
if (args.length > 0) serveChannel(args);
else {
  void import('./serve/report-skills.ts').then(({ reportSkills }) => {
    process.exitCode = reportSkills(process.env, (text) => process.stdout.write(text));
  });
}
