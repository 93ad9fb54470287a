// Reaches for what code of a model must not have, and prints what came of it. It has no other purpose.
import { readdirSync, readFileSync } from 'node:fs';

const [variable, file, address] = process.argv.slice(2);

const attempts = {
  key() {
    if (process.env[variable] !== undefined) return 'in its own environment';
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        if (readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`${variable}=`)) return `in process ${pid}`;
      } catch {
        // A process of somebody else, or one that has ended: the next one may have it.
      }
    }
    throw new Error('no process that it sees has it');
  },
  file: () => `${readFileSync(file).length} bytes`,
  async network() {
    const { status } = await fetch(address);
    return `HTTP ${status}`;
  },
};

const found = {};
for (const [name, attempt] of Object.entries(attempts)) {
  try {
    found[name] = { reached: true, says: await attempt() };
  } catch (error) {
    found[name] = { reached: false, says: error.cause?.code ?? error.code ?? error.message };
  }
}
console.log(JSON.stringify(found));
