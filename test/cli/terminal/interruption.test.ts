import { EventEmitter } from 'node:events';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { CliIo } from '../../../src/cli/terminal/cli-io.ts';
import { listenForInterruption } from '../../../src/cli/terminal/interruption.ts';

// Fake timers: on a loaded machine the times between two signals would differ.
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

interface Listening {
  signals: EventEmitter;
  exits: number[];
  interruption: ReturnType<typeof listenForInterruption>;
}

function listen(): Listening {
  const signals = new EventEmitter();
  const exits: number[] = [];
  const io: CliIo = {
    stdin: new PassThrough(),
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    env: {},
    cwd: () => '/',
    on: (signal, listener) => signals.on(signal, listener),
    off: (signal, listener) => signals.off(signal, listener),
    exit: (code) => void exits.push(code),
  };
  return { signals, exits, interruption: listenForInterruption(io) };
}

describe('listenForInterruption()', () => {
  it('keeps the first reason', () => {
    const { signals, interruption } = listen();
    expect(interruption.exitCode).toBeUndefined();
    signals.emit('SIGTERM');
    interruption.outputLost(Object.assign(new Error('gone'), { code: 'EPIPE' }));
    expect(interruption).toMatchObject({ exitCode: 143, signal: { aborted: true } });
    interruption.release();
    expect(signals.eventNames()).toEqual([]);
  });

  it('kills the rest and exits when a clean end takes longer than 2.7 s', async () => {
    const { signals, exits, interruption } = listen();
    let killed = 0;
    interruption.onUrgent(async () => void (killed += 1));
    const takeBack = interruption.onUrgent(async () => void (killed += 10));
    takeBack();
    signals.emit('SIGINT');
    await vi.advanceTimersByTimeAsync(2_000);
    expect({ killed, exits }).toEqual({ killed: 0, exits: [] });
    await vi.advanceTimersByTimeAsync(900);
    expect({ killed, exits }).toEqual({ killed: 1, exits: [130] });
    interruption.release();
  });

  it('waits as long as allow() permits, so that work is saved', async () => {
    const { signals, exits, interruption } = listen();
    let killed = 0;
    interruption.onUrgent(async () => void (killed += 1));
    interruption.allow(30_000);
    signals.emit('SIGTERM');
    await vi.advanceTimersByTimeAsync(29_900);
    expect({ killed, exits }).toEqual({ killed: 0, exits: [] });
    await vi.advanceTimersByTimeAsync(600);
    expect({ killed, exits }).toEqual({ killed: 1, exits: [143] });
    interruption.release();
  });

  it('waits half a second for urgent work at a second signal', async () => {
    const { signals, exits, interruption } = listen();
    interruption.onUrgent(() => new Promise(() => undefined));
    signals.emit('SIGHUP');
    await vi.advanceTimersByTimeAsync(350);
    signals.emit('SIGHUP');
    await vi.advanceTimersByTimeAsync(300);
    expect(exits).toEqual([]);
    await vi.advanceTimersByTimeAsync(300);
    expect(exits).toEqual([129]);
    interruption.release();
  });
});
