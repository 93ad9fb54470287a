import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import type { DemandedExtension } from '../../../src/egress/certificates/certificate-extensions.ts';
import { type Authority, createAuthority } from '../../../src/egress/certificates/create-authority.ts';
import { describeWith, MISSING_OPENSSL, MISSING_PYTHON } from '../../fixtures/describe-with.ts';
import { leafOf, nameOfLength } from '../../fixtures/egress/leaf-of.ts';
import { standInFor } from '../../fixtures/egress/stand-in-server.ts';

const run = promisify(execFile);

const HOSTS: [string, string][] = [
  ['a name', 'api.example.com'],
  ['a name in Punycode', 'xn--bcher-kva.example'],
  ['a name of 64 characters', nameOfLength(64)],
  ['a name of 65 characters', nameOfLength(65)],
  ['a name of 253 characters', nameOfLength(253)],
  ['an IPv4 address', '192.0.2.7'],
  ['an IPv6 address', '2001:db8::7'],
];
const LEFT_OUT: [DemandedExtension, RegExp][] = [
  ['key-ids', /missing (?:subject|authority) key identifier/i],
  ['usages', /CA cert does not include key usage extension|path length given without key usage/i],
];

/** Writes texts to files of a folder that lives as long as the test. */
function filesOf(texts: readonly string[]): string[] {
  const folder = mkdtempSync(join(tmpdir(), 'certificates-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return texts.map((content, index) => {
    const file = join(folder, `${index}.pem`);
    writeFileSync(file, content);
    return file;
  });
}

/** Output of a program, and its errors, whether it succeeds or fails. */
async function outputOf(command: string, args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await run(command, args).catch((error: unknown) => error as Record<string, string>);
  return `${stdout}${stderr}`;
}

describeWith('openssl', MISSING_OPENSSL, () => {
  const STRICT = ['verify', '-x509_strict', '-purpose', 'sslserver'];

  test('names of every length pass the strict check', async () => {
    const authority = await createAuthority();
    const names = Array.from({ length: 247 }, (_, index) => nameOfLength(index + 4));
    const leaves = await Promise.all(names.map(async (name) => String(await leafOf(authority, name))));
    const [ca = '', ...files] = filesOf([authority.pem, ...leaves]);
    const output = await outputOf('/usr/bin/openssl', [...STRICT, '-CAfile', ca, ...files]);
    expect(output).toBe(files.map((file) => `${file}: OK\n`).join(''));
  });

  test.each(HOSTS)('the certificate of %s is for this host only', async (_title, host) => {
    const authority = await createAuthority();
    const [ca = '', leaf = ''] = filesOf([authority.pem, String(await leafOf(authority, host))]);
    const option = isIP(host) === 0 ? '-verify_hostname' : '-verify_ip';
    const check = (asked: string) => outputOf('/usr/bin/openssl', [...STRICT, '-CAfile', ca, option, asked, leaf]);
    expect(await check(host)).toBe(`${leaf}: OK\n`);
    expect(await check(isIP(host) === 0 ? `z${host.slice(1)}` : '192.0.2.8')).toMatch(/mismatch/);
  });

  test('two authorities in one file verify their own certificates', async () => {
    const authorities = [await createAuthority(), await createAuthority()];
    const leaves = await Promise.all(authorities.map(async (one) => String(await leafOf(one, 'a.example'))));
    const [both = '', first = '', ...files] = filesOf([
      authorities.map(({ pem }) => pem).join(''),
      authorities[0]!.pem,
      ...leaves,
    ]);
    const verify = (ca: string) => outputOf('/usr/bin/openssl', [...STRICT, '-CAfile', ca, ...files]);
    expect(await verify(both)).toBe(`${files[0]}: OK\n${files[1]}: OK\n`);
    const output = await verify(first);
    expect(output).toContain(`${files[0]}: OK
`);
    expect(output).toContain(`error ${files[1]}: verification failed`);
  });

  test.each(LEFT_OUT)('the strict check refuses certificates without %s', async (part, expected) => {
    const authority = await createAuthority({ without: [part] });
    const [ca = '', leaf = ''] = filesOf([authority.pem, String(await leafOf(authority, 'a.example'))]);
    expect(await outputOf('/usr/bin/openssl', [...STRICT, '-CAfile', ca, leaf])).toMatch(expected);
    expect(await outputOf('/usr/bin/openssl', ['verify', '-CAfile', ca, leaf])).toBe(`${leaf}: OK\n`);
  });
});

describeWith('Python', MISSING_PYTHON, () => {
  const CLIENT = `
import socket, ssl, sys
port, host, ca, strict = sys.argv[1:]
context = ssl.create_default_context(cafile=ca)
if strict == 'strict':
    # The defaults since Python 3.13.
    context.verify_flags |= ssl.VERIFY_X509_STRICT | ssl.VERIFY_X509_PARTIAL_CHAIN
with socket.create_connection(('127.0.0.1', int(port))) as plain:
    with context.wrap_socket(plain, server_hostname=host) as secure:
        print(secure.version(), secure.recv(5).decode())
`;
  const connectAs = async (
    authority: Authority,
    host: string,
    { asked = host, mode = 'strict', trusted = authority } = {},
  ) => {
    await using server = await standInFor(host, authority);
    const [ca = ''] = filesOf([trusted.pem]);
    return await outputOf('/usr/bin/python3', ['-c', CLIENT, String(server.port), asked, ca, mode]);
  };

  test.each(HOSTS)('a strict client connects to %s', async (_title, host) => {
    expect(await connectAs(await createAuthority(), host)).toBe('TLSv1.3 hello\n');
  });

  test('a client refuses another host and another authority', async () => {
    const [authority, trusted] = [await createAuthority(), await createAuthority()];
    expect(await connectAs(authority, 'a.example', { asked: 'b.example' })).toMatch(/Hostname mismatch/);
    expect(await connectAs(authority, 'a.example', { trusted })).toMatch(/unable to get local issuer certificate/);
  });

  test.each(LEFT_OUT)('a strict client refuses certificates without %s', async (part, expected) => {
    const authority = await createAuthority({ without: [part] });
    expect(await connectAs(authority, 'a.example')).toMatch(expected);
    expect(await connectAs(authority, 'a.example', { mode: 'lenient' })).toBe('TLSv1.3 hello\n');
  });
});

/** The greeting of the server as Node's client gets it. */
async function greeting(port: number, { pem }: Authority, host: string): Promise<string> {
  const name = isIP(host) === 0 ? { servername: host } : { host };
  const socket = connect({
    port,
    ca: pem,
    ...name,
    lookup: (...[, , done]) => done(null, [{ address: '127.0.0.1', family: 4 }]),
  });
  await once(socket, 'secureConnect');
  return await text(socket);
}

test.each(HOSTS.filter(([, host]) => isIP(host) === 0))(
  "Node's client connects to %s, and to no other host",
  async (_title, host) => {
    const authority = await createAuthority();
    await using server = await standInFor(host, authority);
    expect(await greeting(server.port, authority, host)).toBe('hello');
    await expect(greeting(server.port, authority, 'other.example')).rejects.toThrow(
      expect.objectContaining({ code: 'ERR_TLS_CERT_ALTNAME_INVALID' }),
    );
    await expect(greeting(server.port, await createAuthority(), host)).rejects.toThrow(
      expect.objectContaining({ code: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }),
    );
  },
);

test("Node's client connects to an address", async () => {
  const authority = await createAuthority();
  await using server = await standInFor('127.0.0.1', authority);
  expect(await greeting(server.port, authority, '127.0.0.1')).toBe('hello');
});
