import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { addressFault, engineAddress } from '../../../src/sandboxes/docker/engine/engine-address.ts';

const PLAIN = { DOCKER_TLS_VERIFY: undefined, DOCKER_CERT_PATH: undefined };
const SOCKET = { socketPath: '/var/run/docker.sock', host: undefined, protocol: 'http' };

/** A folder with certificates. */
function certificates(...parts: string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'engine-address-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  for (const part of parts) writeFileSync(join(folder, `${part}.pem`), part);
  return folder;
}

describe('engineAddress()', () => {
  it.each([
    [undefined, SOCKET],
    ['', SOCKET],
    ['unix:///run/own.sock', { ...SOCKET, socketPath: '/run/own.sock' }],
    ['tcp://engine.test', { host: 'engine.test', port: 2375, protocol: 'http' }],
    ['tcp://engine.test:80/', { host: 'engine.test', port: 80, protocol: 'http' }],
    ['tcp://10.0.0.1:4000', { host: '10.0.0.1', port: 4000, protocol: 'http' }],
    ['tcp://[::1]:4000', { host: '::1', port: 4000, protocol: 'http' }],
    ['http://[fe80::2]', { host: 'fe80::2', port: 2375, protocol: 'http' }],
    ['https://engine.test', { host: 'engine.test', port: 2376, protocol: 'https' }],
    ['https://engine.test:443', { host: 'engine.test', port: 443, protocol: 'https' }],
  ])('of %s is %j', (named, expected) => {
    expect(engineAddress(named, PLAIN)).toStrictEqual(expected);
  });

  it('with DOCKER_TLS_VERIFY makes tcp: secure, and leaves http: and sockets as they are', () => {
    const verified = { ...PLAIN, DOCKER_TLS_VERIFY: '1' };
    expect(engineAddress('tcp://engine.test', verified)).toMatchObject({ port: 2376, protocol: 'https' });
    expect(engineAddress('http://engine.test', verified)).toMatchObject({ port: 2375, protocol: 'http' });
    expect(engineAddress('unix:///run/own.sock', verified)).toMatchObject({ protocol: 'http' });
    expect(engineAddress('tcp://engine.test', { ...PLAIN, DOCKER_TLS_VERIFY: '' }).protocol).toBe('http');
  });

  it('reads the certificates for a secure address only', () => {
    const DOCKER_CERT_PATH = certificates('ca', 'cert', 'key');
    const verified = { DOCKER_TLS_VERIFY: '1', DOCKER_CERT_PATH };
    const read = { ca: Buffer.from('ca'), cert: Buffer.from('cert'), key: Buffer.from('key') };
    expect(engineAddress('tcp://engine.test', verified)).toMatchObject(read);
    expect(engineAddress('https://engine.test', { ...PLAIN, DOCKER_CERT_PATH })).toMatchObject(read);
    expect(engineAddress('tcp://engine.test', { ...PLAIN, DOCKER_CERT_PATH })).not.toHaveProperty('ca');
    expect(engineAddress('https://engine.test', PLAIN)).not.toHaveProperty('ca');
  });

  it('refuses a folder that lacks a certificate, with the cause', () => {
    const DOCKER_CERT_PATH = certificates('ca', 'cert');
    expect(() => engineAddress('https://engine.test', { ...PLAIN, DOCKER_CERT_PATH })).toThrow(
      expect.objectContaining({
        code: 'engine.unavailable',
        message: expect.stringContaining('DOCKER_CERT_PATH lacks one of ca.pem, cert.pem and key.pem') as string,
        cause: expect.objectContaining({ code: 'ENOENT' }) as Error,
      }),
    );
  });

  it('refuses an address with a fault', () => {
    expect(() => engineAddress('tcp://engine.test:0', PLAIN)).toThrow('its port is not valid, got 0');
  });
});

describe('addressFault()', () => {
  it.each(['unix:///run/own.sock', 'tcp://engine.test', 'http://[::1]:80/', 'https://engine.test:443'])(
    'of %s is undefined',
    (named) => {
      expect(addressFault(named)).toBeUndefined();
    },
  );

  it.each([
    ['unix://run/own.sock', 'its socket is not an absolute path'],
    ['engine.test:2375', 'its address has none of the forms'],
    ['xtcp://engine.test', 'its address has none of the forms'],
    ['tcp:engine.test', 'its address has none of the forms'],
    ['tcp://', 'its address is not HOST:PORT alone'],
    ['tcp://user@engine.test', 'its address is not HOST:PORT alone'],
    ['tcp://:hunter2@engine.test', 'its address is not HOST:PORT alone'],
    ['tcp://engine.test/v1', 'its address is not HOST:PORT alone'],
    ['tcp://engine.test?a=1', 'its address is not HOST:PORT alone'],
    ['tcp://engine.test:0', 'its port is not valid, got 0'],
  ])('of %s names the fault', (named, expected) => {
    expect(addressFault(named)).toContain(expected);
    expect(addressFault(named)).not.toContain('hunter2');
  });
});
