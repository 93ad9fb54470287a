import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline';

const PYTHON = '/usr/bin/python3';

/** Python's zipfile as a reader of archives, in its own process. */
export interface PythonZipfile extends AsyncDisposable {
  /** The files of an archive by their names, in base64. Files that are left out have no content. One call at a time. */
  read(archive: Uint8Array): Promise<Record<string, string>>;
}

/** The program that the machine lacks for {@link startPythonZipfile}, or undefined. */
export function missingPython(): string | undefined {
  return existsSync(PYTHON) ? undefined : PYTHON;
}

/** Starts an interpreter that reads archives until it is disposed of. */
export function startPythonZipfile(): PythonZipfile {
  const child = spawn(PYTHON, ['-c', PROGRAM], { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = once(child, 'exit');
  // The reader of the answer reports the failure.
  child.stdin.on('error', () => undefined);
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async read(archive) {
      const length = Buffer.alloc(4);
      length.writeUInt32LE(archive.length);
      child.stdin.write(Buffer.concat([length, archive]));
      const answer = await answers.next();
      if (answer.done === true) throw new Error('Python has ended.');
      const { files, error } = JSON.parse(answer.value) as { files?: Record<string, string>; error?: string };
      if (files === undefined) throw new Error(`Python cannot read an accepted archive: ${error}`);
      return files;
    },
    async [Symbol.asyncDispose]() {
      child.stdin.end();
      await ended;
    },
  };
}

const PROGRAM = `
import base64, io, json, struct, sys, zipfile
def read(data):
    files = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for info in archive.infolist():
            name = info.orig_filename.encode("utf-8" if info.flag_bits & 0x800 else "cp437").decode("utf-8")
            if name.endswith("/"): continue
            out = any(part.startswith("._") for part in name.split("/"))
            files[name] = "" if out else base64.b64encode(archive.read(info)).decode()
    return files
while head := sys.stdin.buffer.read(4):
    data = sys.stdin.buffer.read(struct.unpack("<I", head)[0])
    try: answer = {"files": read(data)}
    except Exception as error: answer = {"error": repr(error)}
    print(json.dumps(answer), flush=True)
`;
