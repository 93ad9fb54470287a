import type { NetworkGate } from '../../src/egress/rules/network-gate.ts';
import type { Lookup } from '../../src/outgoing/outgoing-rules.ts';
import { type DoorScene, type DoorSceneOptions, verdict, whole } from '../fixtures/egress/door-scene.ts';

/** An attack by a program on the network of its job, and the gates without which it gets through. */
export interface NetworkCase {
  /** From the list of threats. */
  id: string;
  title: string;
  /** It gets through when all of these are left out. */
  gates: readonly NetworkGate[];
  /** `raw` breaks HTTP. @default `ordinary` */
  upstream?: 'raw';
  /** A scene for itself. @default that of `COMMON_SCENE` */
  scene?: () => DoorSceneOptions;
  /** Returns evidence: the verdict on an answer, or the thing that leaked. */
  attempt(door: DoorScene): Promise<string>;
  blocked: RegExp | string;
  open: RegExp | string;
}

/** The addresses of a name at its first look-up, at its second, and so on. */
export function changing(...answers: string[][]): Lookup {
  let asked = 0;
  return async () => {
    const addresses = answers[Math.min(asked, answers.length - 1)] ?? [];
    asked += 1;
    return addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
  };
}

/** A case of one request over TLS. */
export function asking(
  id: string,
  title: string,
  gates: readonly NetworkGate[],
  target: string,
  asked: Parameters<DoorScene['ask']>[1],
  blocked: RegExp | string,
): NetworkCase {
  return {
    ...{ id, title, gates, blocked, open: /^[24]\d\d$/ },
    attempt: async (door) => verdict(await door.ask(target, asked)),
  };
}

/** A case of bytes for the door itself, or for a tunnel. The words `$https` and `$http` are ports. */
export function saying(
  id: string,
  title: string,
  gates: readonly NetworkGate[],
  text: string | ((door: DoorScene) => string),
  blocked: RegExp | string,
  open: RegExp | string = '200',
): NetworkCase {
  return {
    ...{ id, title, gates, blocked, open },
    attempt: async (door) => verdict(await door.say(withPorts(door, typeof text === 'string' ? text : text(door)))),
  };
}

/** A case of bytes in a tunnel with TLS to api.test. */
export function inTls(
  id: string,
  title: string,
  gates: readonly NetworkGate[],
  text: string,
  blocked: RegExp | string,
  open: RegExp | string = '200',
): NetworkCase {
  return {
    ...{ id, title, gates, blocked, open },
    async attempt(door) {
      const socket = await door.secure(`api.test:${door.upstream.port}`);
      socket.write(Buffer.from(withPorts(door, text), 'latin1'));
      return verdict(await whole(socket));
    },
  };
}

export function withPorts({ upstream }: DoorScene, text: string): string {
  return text.replaceAll('$https', `${upstream.port}`).replaceAll('$http', `${upstream.plainPort}`);
}
