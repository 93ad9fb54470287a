// Tries to reach data that a model's code must not get, and prints the results. It has no other purpose.
import { readdirSync, readFileSync } from 'node:fs';

const [variable, file, address] = process.argv.slice(2);

const attempts = {
  key() {
    if (process.env[variable] !== undefined) return 'in its own environment';
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        if (readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`${variable}=`)) return `in process ${pid}`;
      } catch {
        // Another user's process, or one that has ended: the next process may have the key.
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
