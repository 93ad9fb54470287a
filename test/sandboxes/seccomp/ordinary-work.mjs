// Ordinary work of a Node program; prints one JSON object with results that do not depend on the machine.
import { execFileSync, fork, spawn, spawnSync } from 'node:child_process';
import { generateKeyPairSync, pbkdf2, randomBytes, randomUUID, scryptSync } from 'node:crypto';
import { once } from 'node:events';
import fs from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { connect, createServer } from 'node:net';
import os from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Worker } from 'node:worker_threads';
import { brotliCompressSync, brotliDecompressSync, createGunzip, createGzip } from 'node:zlib';

if (process.send !== undefined) {
  process.once('message', (message) => process.send?.(`${message} back`, () => process.disconnect()));
} else {
  const results = {};
  const folder = fs.mkdtempSync(join(os.tmpdir(), 'work-'));
  const at = (name) => join(folder, name);

  results.spawn = spawnSync('/bin/sh', ['-c', 'cat; echo $0 >&2; exit 3', 'zero'], { input: 'in', encoding: 'utf8' });
  results.spawn = [results.spawn.status, results.spawn.stdout, results.spawn.stderr];
  results.nestedNode = execFileSync(process.execPath, ['-p', '6 * 7'], { encoding: 'utf8' });

  const forked = fork(fileURLToPath(import.meta.url));
  forked.send('there');
  const [answer] = await once(forked, 'message');
  results.fork = [answer, ...(await once(forked, 'exit'))];

  const sleeper = spawn('sleep', ['30']);
  sleeper.kill('SIGTERM');
  results.kill = await once(sleeper, 'exit');

  const worker = new Worker(
    'const { parentPort, workerData } = require("node:worker_threads"); Atomics.add(new Int32Array(workerData), 0, 5); parentPort.postMessage("done")',
    { eval: true, workerData: new SharedArrayBuffer(4) },
  );
  results.worker = await once(worker, 'message');
  await worker.terminate();

  const started = performance.now();
  await delay(30);
  results.timer = performance.now() - started >= 29;

  fs.writeFileSync(at('a'), 'text');
  fs.appendFileSync(at('a'), ' more');
  fs.copyFileSync(at('a'), at('b'));
  fs.renameSync(at('b'), at('c'));
  fs.linkSync(at('a'), at('hard'));
  fs.symlinkSync('a', at('soft'));
  fs.chmodSync(at('c'), 0o600);
  fs.truncateSync(at('c'), 4);
  fs.utimesSync(at('c'), 1, 2);
  fs.accessSync(at('c'), fs.constants.R_OK);
  fs.mkdirSync(at('deep/er'), { recursive: true });
  fs.cpSync(at('deep'), at('copy'), { recursive: true });
  fs.fsyncSync(fs.openSync(at('a'), 'r+'));
  results.files = [
    fs.readFileSync(at('soft'), 'utf8'),
    fs.statSync(at('c')).mtimeMs,
    fs.realpathSync(at('soft')) === at('a'),
  ];
  const watcher = fs.watch(folder);
  fs.writeFileSync(at('watched'), '');
  results.watch = (await once(watcher, 'change'))[1];
  watcher.close();
  await pipeline(fs.createReadStream(at('a')), createGzip(), createGunzip(), fs.createWriteStream(at('round')));
  results.streams = await fs.promises.readFile(at('round'), 'utf8');
  fs.rmSync(at('deep'), { recursive: true });
  results.listing = (await fs.promises.readdir(folder, { recursive: true })).toSorted();

  results.zlib = brotliDecompressSync(brotliCompressSync('text')).toString();
  results.crypto = [
    randomBytes(8).length,
    randomUUID().length,
    scryptSync('secret', 'salt', 8).toString('hex'),
    (await promisify(pbkdf2)('secret', 'salt', 10, 8, 'sha256')).toString('hex'),
    generateKeyPairSync('ed25519').publicKey.asymmetricKeyType,
  ];
  results.interfaces = Object.keys(os.networkInterfaces());
  results.system = [
    os.availableParallelism() > 0,
    os.totalmem() > 0,
    os.uptime() > 0,

    os.getPriority(),
  ];

  const local = createServer((socket) => socket.end('local')).listen(at('socket'));
  await once(local, 'listening');
  results.unixSocket = String((await once(connect(at('socket')), 'data'))[0]);
  local.close();
  const server = createHttpServer((request, response) => response.end(request.url)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  results.http = await (await fetch(`http://127.0.0.1:${server.address().port}/path`)).text();
  server.close();
  server.closeAllConnections();

  const signalled = once(process, 'SIGUSR2');
  process.kill(process.pid, 'SIGUSR2');
  const alive = setTimeout(() => {}, 5_000); // a pending signal handler does not keep Node alive
  results.signal = (await signalled)[0];
  clearTimeout(alive);
  const emptyModule = new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
  results.webAssembly = WebAssembly.Module.exports(emptyModule).length;
  results.rss = process.memoryUsage().rss > 0 && process.cpuUsage().user > 0;
  process.stdout.write(JSON.stringify(results));
}
