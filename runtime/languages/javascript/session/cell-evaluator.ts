import inspector from 'node:inspector';
import type { Script, SyntaxFault } from './as-script.ts';
import { defineProperty, deleteProperty, hasOwn, isPromise, setPrototypeOf, whenSettled } from '../captured.ts';
import { interrupted, plainError } from '../describe-error.ts';
import { takeFields, tellField, type TakenField } from './held-prototype.ts';
import { syntaxError } from './syntax-error.ts';

/** The end of a run's code: the value of its last expression, or the thrown value. All fields are its own. */
export interface Ending {
  failed: boolean;
  is: unknown;
}

/** Evaluates code in the state that earlier code left. */
export interface CellEvaluator {
  /** Evaluates a script that stacks name `cell`. */
  evaluate(script: Script, cell: string, end: (ending: Ending) => void): void;
  /** Releases the objects that the inspector keeps of a run. */
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

/** A thrown value. With a script and without a stack the code did not compile, and the place is the place of the syntax error. */
interface ExceptionDetails {
  exception?: RemoteObject;
  text: string;
  scriptId?: string;
  stackTrace?: object;
  lineNumber: number;
  columnNumber: number;
}

const GROUP = 'cell';

/** Creates an evaluator. It calls `onField` with a field found on the prototype of all objects. */
export function createCellEvaluator(onField: (field: TakenField) => void): CellEvaluator {
  const session = new inspector.Session();
  let taken: unknown;
  const take = (value: unknown): void => void (taken = value);
  /** The id of `take`. It belongs to a connection. */
  let taker = '';
  const connect = (): void => {
    session.connect();
    taker = remoteOf(session, take);
  };
  connect();
  /** The evaluation whose answer is awaited. */
  let awaited: object | undefined;
  /** Whether the inspector may keep objects of the run: its result is an object, or it threw. */
  let keeps = false;

  /** The value of this process that a remote object refers to. */
  const valueOf = (remote: RemoteObject): unknown => {
    if (!hasOwn(remote, 'objectId') && !hasOwn(remote, 'unserializableValue'))
      return hasOwn(remote, 'value') ? remote.value : undefined;
    taken = undefined;
    session.post('Runtime.callFunctionOn', {
      objectId: taker,
      functionDeclaration: 'function (value) { this(value); }',
      // Without its prototype, so that the array is serialized as it is: user code may have changed the inherited fields.
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
      const evaluation = (awaited = {});
      session.post('Runtime.evaluate', parameters, (fault, answer) => {
        if (awaited !== evaluation) return;
        awaited = undefined;
        const field = takeFields();
        if (field !== undefined) onField(field);
        if (field !== undefined && (field.stays || fault !== null)) return end(blocked(field));
        if (fault !== null) return end({ failed: true, is: interrupted() });
        const evaluated = answer as Evaluated;
        const { result, exceptionDetails } = evaluated;
        keeps ||= hasOwn(evaluated, 'exceptionDetails') || hasOwn(result, 'objectId');
        if (hasOwn(evaluated, 'exceptionDetails'))
          end({ failed: true, is: thrown(exceptionDetails as ExceptionDetails, cell, wrong) });
        else settle(valueOf(result), end);
      });
    },
    release() {
      if (awaited !== undefined) {
        // The run was stopped, and its promise may never settle. When the memory of such a promise is freed, Node answers the evaluation in the
        // middle of the collection, and crashes. Without the connection there is no answer.
        awaited = undefined;
        keeps = false;
        session.disconnect();
        return connect();
      }
      if (keeps) session.post('Runtime.releaseObjectGroup', { objectGroup: GROUP });
      keeps = false;
    },
  };
}

/** Work that the last expression has started belongs to the run. */
function settle(value: unknown, end: (ending: Ending) => void): void {
  if (!isPromise(value)) return end({ failed: false, is: value });
  const fail = (is: unknown): void => end({ failed: true, is });
  try {
    whenSettled(value, (is: unknown) => end({ failed: false, is }), fail);
  } catch (error) {
    // Reading the promise's constructor can throw.
    fail(error);
  }
}

/**
 * The inspector's object id of an internal value. It stays valid whatever user code does to the global object. User code may have replaced built-ins
 * already, so that the expression uses none.
 */
function remoteOf(session: inspector.Session, value: unknown): string {
  const name = 'skillcell taker';
  defineProperty(globalThis, name, setPrototypeOf({ value, configurable: true }, null) as PropertyDescriptor);
  let id = '';
  session.post('Runtime.evaluate', { expression: `this['${name}']` }, (fault, answer) => {
    if (fault === null) id = answer.result.objectId ?? '';
  });
  deleteProperty(globalThis, name);
  return id;
}
