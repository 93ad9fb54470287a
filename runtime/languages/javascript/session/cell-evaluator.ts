import inspector from 'node:inspector';
import type { Script, SyntaxFault } from './as-script.ts';
import { hasOwn, isPromise, setPrototypeOf, whenSettled } from '../captured.ts';
import { interrupted, plainError } from '../describe-error.ts';
import { takeFields, tellField, type TakenField } from './held-prototype.ts';
import { syntaxError } from './syntax-error.ts';

/** How the code of a run ended: with what its last expression is, or with what was thrown. All fields are its own. */
export interface Ending {
  failed: boolean;
  is: unknown;
}

/** Evaluates code with what earlier code defined. */
export interface CellEvaluator {
  /** Evaluates a script, which stacks name by `cell`. */
  evaluate(script: Script, cell: string, end: (ending: Ending) => void): void;
  /** Lets go of what the inspector keeps of a run. */
  release(): void;
}

/** A value of the interpreter, as the inspector hands it out. */
interface RemoteObject {
  value?: unknown;
  unserializableValue?: string;
  objectId?: string;
}

interface Evaluated {
  result: RemoteObject;
  exceptionDetails?: ExceptionDetails;
}

/** What was thrown. Where it has a script and no stack, the code could not be compiled, and the place is the one of the error. */
interface ExceptionDetails {
  exception?: RemoteObject;
  text: string;
  scriptId?: string;
  stackTrace?: object;
  lineNumber: number;
  columnNumber: number;
}

const GROUP = 'cell';

/** Creates an evaluator. `onField` is told of what was found on the prototype of all objects. */
export function createCellEvaluator(onField: (field: TakenField) => void): CellEvaluator {
  const session = new inspector.Session();
  session.connect();
  let taken: unknown;
  /** Whether the inspector may keep objects of the run: what came of it is one, or was thrown. */
  let keeps = false;
  const taker = remoteOf(session, (value: unknown) => void (taken = value));

  /** The value that a remote object stands for, which is one of this process. */
  const valueOf = (remote: RemoteObject): unknown => {
    if (!hasOwn(remote, 'objectId') && !hasOwn(remote, 'unserializableValue'))
      return hasOwn(remote, 'value') ? remote.value : undefined;
    taken = undefined;
    session.post('Runtime.callFunctionOn', {
      objectId: taker,
      functionDeclaration: 'function (value) { this(value); }',
      // Without its prototype, it is written as it is: what an array inherits may be of users.
      arguments: setPrototypeOf([remote], null) as inspector.Runtime.CallArgument[],
    });
    const value = taken;
    taken = undefined;
    return value;
  };
  const thrown = (details: ExceptionDetails, cell: string, fault?: SyntaxFault): unknown => {
    const { text, lineNumber, columnNumber } = details;
    if (!hasOwn(details, 'exception')) return plainError('Error', text);
    const error = valueOf(details.exception as RemoteObject);
    if (!hasOwn(details, 'scriptId') || hasOwn(details, 'stackTrace')) return error;
    return syntaxError(error, cell, { line: lineNumber + 1, column: columnNumber + 1 }, fault);
  };
  const blocked = (field: TakenField): Ending => ({ failed: true, is: plainError('TypeError', tellField(field)) });

  return {
    evaluate({ text, fault: wrong }, cell, end) {
      const before = takeFields();
      if (before !== undefined) onField(before);
      if (before?.stays === true) return end(blocked(before));
      const expression = `${text}\n//# sourceURL=${cell}`;
      const parameters = { expression, replMode: true, awaitPromise: true, objectGroup: GROUP };
      session.post('Runtime.evaluate', parameters, (fault, answer) => {
        const field = takeFields();
        if (field !== undefined) onField(field);
        if (field !== undefined && (field.stays || fault !== null)) return end(blocked(field));
        if (fault !== null) return end({ failed: true, is: interrupted() });
        const evaluated = answer as Evaluated;
        const { result, exceptionDetails } = evaluated;
        // One that was interrupted may end within a later one.
        keeps ||= hasOwn(evaluated, 'exceptionDetails') || hasOwn(result, 'objectId');
        if (hasOwn(evaluated, 'exceptionDetails'))
          end({ failed: true, is: thrown(exceptionDetails as ExceptionDetails, cell, wrong) });
        else settle(valueOf(result), end);
      });
    },
    release() {
      if (keeps) session.post('Runtime.releaseObjectGroup', { objectGroup: GROUP });
      keeps = false;
    },
  };
}

/** Work that the last expression has begun is a part of the run. */
function settle(value: unknown, end: (ending: Ending) => void): void {
  if (!isPromise(value)) return end({ failed: false, is: value });
  const fail = (is: unknown): void => end({ failed: true, is });
  try {
    whenSettled(value, (is: unknown) => end({ failed: false, is }), fail);
  } catch (error) {
    // It is asked for its constructor.
    fail(error);
  }
}

/** What the inspector calls a value of ours: by this it is found whatever becomes of the global object. */
function remoteOf(session: inspector.Session, value: unknown): string {
  const name = Symbol.for('skillcell.taker');
  Object.defineProperty(globalThis, name, { value, configurable: true });
  let id = '';
  session.post('Runtime.evaluate', { expression: `globalThis[Symbol.for('skillcell.taker')]` }, (fault, answer) => {
    if (fault === null) id = answer.result.objectId ?? '';
  });
  Reflect.deleteProperty(globalThis, name);
  return id;
}
