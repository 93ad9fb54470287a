import type { Socket } from 'node:net';
import { type DoorScene, verdict } from '../fixtures/egress/door-scene.ts';
import type { NetworkCase } from './network-case.ts';

const OK = 'HTTP/1.1 200 OK\r\n';
const BODY = 'Content-Length: 2\r\n\r\nhi';

/** Answers of a host that breaks HTTP, by the path that asks for them. */
const BROKEN_ANSWERS: Record<string, string> = {
  '/both-lengths': `${OK}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n`,
  '/two-lengths': `${OK}Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi!`,
  '/nul': `${OK}X-A: a\0b\r\n${BODY}`,
  '/carriage-return': `${OK}X-A: a\rX-B: b\r\n${BODY}`,
  '/nameless': `${OK}: a\r\n${BODY}`,
  '/space': `${OK}X-A : a\r\n${BODY}`,
  '/old': 'hi',
  '/other-version': `HTTP/3.7 200 OK\r\n${BODY}`,
  '/short-status': `HTTP/1.1 20 OK\r\n${BODY}`,
  '/long-status': `HTTP/1.1 2000 OK\r\n${BODY}`,
  '/chunk-size': `${OK}Transfer-Encoding: chunked\r\n\r\nzz\r\nhi\r\n0\r\n\r\n`,
  '/switch': 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\nraw bytes',
  '/nothing': '',
  '/half-head': 'HTTP/1.1 200 OK\r\nContent-',
};

const FLOODS: Record<string, string> = {
  '/interim': `${'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(40)}${OK}${BODY}`,
  '/headers': `${OK}${'X-A: aaaaaaaaaaaaaaaaaaaa\r\n'.repeat(4_000)}${BODY}`,
  '/one-header': `${OK}X-A: ${'a'.repeat(100_000)}\r\n${BODY}`,
};

/** Answers that a strict reader takes, with something beside the answer that no program may see. */
const OTHERS: Record<string, string> = {
  '/twice': `${OK}${BODY}HTTP/1.1 200 OK\r\nX-Smuggled: 1\r\n${BODY}`,
  '/hop': `${OK}Connection: X-Named\r\nX-Named: smuggled\r\nProxy-Authenticate: smuggled\r\nKeep-Alive: smuggled\r\n${BODY}`,
  '/trailer': `${OK}Transfer-Encoding: chunked\r\nTrailer: X-A\r\n\r\n2\r\nhi\r\n0\r\nX-A: smuggled\r\n\r\n`,
  '/extension': `${OK}Transfer-Encoding: chunked\r\n\r\n2;smuggled=${'s'.repeat(10_000)}\r\nhi\r\n0\r\n\r\n`,
  '/forged': `${OK}Set-Cookie: a=1\r\nSet-Cookie: b=2\r\n${BODY}`,
};

/** Serves raw connections: the first line chooses the answer. */
export function answerRaw(socket: Socket): void {
  let text = '';
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1');
    if (!text.includes('\r\n\r\n')) return;
    const path = text.split(' ', 2)[1] ?? '';
    text = '';
    const answer = { ...BROKEN_ANSWERS, ...FLOODS, ...OTHERS }[path];
    if (answer === undefined) socket.write(`${OK}${BODY}`);
    else if (path === '/twice') socket.write(Buffer.from(answer, 'latin1'));
    else socket.end(Buffer.from(answer, 'latin1'));
  });
}

function answered(id: string, title: string, gates: NetworkCase['gates'], path: string): NetworkCase {
  return {
    ...{ id, title, gates, upstream: 'raw', blocked: /^(502|none)$/, open: '200' },
    attempt: async (door) => verdict(await door.ask('api.test', { path })),
  };
}

/** The part of an answer that a program must not see, or `nothing`. */
async function smuggled(door: DoorScene, path: string): Promise<string> {
  const first = await door.ask('api.test', { path });
  const second = await door.ask('api.test', { path: '/next' });
  return /smuggled/i.test(first + second) ? 'smuggled' : `nothing, ${verdict(first)}, ${verdict(second)}`;
}

export const ANSWER_CASES: readonly NetworkCase[] = [
  ...Object.keys(BROKEN_ANSWERS).map((path) => answered('P16', `the broken answer ${path}`, [], path)),
  answered('P17', 'a flood of beginnings', ['interim'], '/interim'),
  answered('P18', 'an answer with endless headers', ['headers'], '/headers'),
  answered('P18', 'an answer with an endless header', ['headers'], '/one-header'),
  ...Object.keys(OTHERS).map((path): NetworkCase => ({
    ...answered('P16', `the answer ${path} with more than an answer`, [], path),
    blocked: 'nothing, 200, 200',
    attempt: (door) => smuggled(door, path),
  })),
];
