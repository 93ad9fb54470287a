/**
 * The trusted process inside a sandbox. A runner starts it with its arguments and a channel; started by hand, without
 * them, it rebuilds and renders the skills of the globals that its environment names.
 */
const args = process.argv.slice(2);
// Each loads by itself: what the other needs is neither read nor compiled.
if (args.length > 0) import('./serve-channel.ts').then(({ serveChannel }) => serveChannel(args)).catch(end);
else {
  import('./serve/report-skills.ts')
    .then(({ reportSkills }) => {
      process.exitCode = reportSkills(process.env, (text) => process.stdout.write(text));
    })
    .catch(end);
}

function end(fault: Error): never {
  process.stderr.write(`${fault.stack}\n`);
  process.exit(1);
}
