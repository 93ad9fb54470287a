/**
 * The trusted process inside a sandbox. A runner starts it with arguments and a channel. Started by hand, without arguments, it rebuilds and renders
 * the skills of the globals that its environment names.
 */
const args = process.argv.slice(2);
// Each branch loads its own modules, so neither reads nor compiles the modules of the other.
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
