import { type ChildProcess, spawn } from 'node:child_process';
import inspector from 'node:inspector';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { joinFrames, relayTo, spawnInBubblewrap, writeFrame } from './bare-relay.ts';

/** A minimal interpreter: it evaluates code from a pipe in the state that earlier code left, and does nothing else of a session. */
export interface BareEvaluator extends AsyncDisposable {
  /** @returns the value of the last expression */
  run(code: string): Promise<unknown>;
}

/** The same inspector calls that a session's interpreter makes for a value with a JSON form. */
function evaluateFrames(): void {
  const evaluator = new inspector.Session();
  evaluator.connect();
  const output = new Socket({ fd: 4, readable: false, writable: true });
  const input = new Socket({ fd: 3, readable: true, writable: false });
  joinFrames(input, ({ code }) => {
    const parameters = { expression: code as string, replMode: true, awaitPromise: true };
    evaluator.post('Runtime.evaluate', parameters, (_fault, answer) => {
      writeFrame(output, { value: (answer as { result: { value: unknown } }).result.value });
    });
  });
  input.on('close', () => process.exit());
}

/** The same steps of `ast` and `compile` as in a session. */
const PYTHON = `
import ast, asyncio, json, os, struct
loop = asyncio.new_event_loop()
names = {"__name__": "__main__"}
flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
def exactly(size):
    data = b""
    while len(data) < size:
        piece = os.read(3, size - len(data))
        if not piece: raise SystemExit
        data += piece
    return data
def evaluate(code):
    value = eval(code, names)
    return loop.run_until_complete(value) if code.co_flags & 128 else value
while True:
    (size,) = struct.unpack("<I", exactly(4))
    tree = compile(json.loads(exactly(size))["code"], "cell", "exec", flags | ast.PyCF_ONLY_AST)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    if tree.body: evaluate(compile(tree, "cell", "exec", flags))
    value = None if last is None else evaluate(compile(ast.Expression(last.value), "cell", "eval", flags))
    body = json.dumps({"value": value}).encode()
    os.write(4, struct.pack("<I", len(body)) + body)
`;

/**
 * Starts a bare evaluator.
 *
 * @param relayed whether it runs in a sandbox, behind a process that relays its bytes, like the interpreter of a session; otherwise it is a direct
 * child
 */
export function startBareEvaluator(language: 'javascript' | 'python', relayed: boolean): BareEvaluator {
  const [command, args] = language === 'python' ? PYTHON_COMMAND : nodeEvaluator();
  const child: ChildProcess = relayed
    ? spawnInBubblewrap(relayTo(command, args))
    : spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit', 'pipe', 'pipe'] });
  const [input, output] = (relayed ? [child.stdin, child.stdout] : child.stdio.slice(3)) as [Writable, Readable];
  let waiting: PromiseWithResolvers<unknown> | undefined;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  void ended.then(() => waiting?.reject(new Error('Cannot measure: the evaluator ended early.')));
  joinFrames(output, ({ value }) => waiting?.resolve(value));
  return {
    async run(code) {
      waiting = Promise.withResolvers();
      writeFrame(input, { code });
      return await waiting.promise;
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

const PYTHON_COMMAND: [string, string[]] = ['/usr/bin/python3', ['-I', '-c', PYTHON]];

function nodeEvaluator(): [string, string[]] {
  const text = [joinFrames, writeFrame, evaluateFrames].map(String).join('\n');
  const source = `import inspector from 'node:inspector';\nimport { Socket } from 'node:net';\n${text}\nevaluateFrames();`;
  return [process.execPath, ['--input-type=module', '-e', source]];
}
