import type { FastifyInstance } from 'fastify';
import { parse } from 'secure-json-parse';
import { RequestRefused } from './problem.ts';

/** Deeper values could exhaust the stack of code that walks them. */
const MOST_DEPTH = 64;
/** A value takes up to a hundred times the memory of its text. */
const MOST_VALUES = 200_000;

/** Reads bodies of JSON: no `__proto__`, no NUL as text of a name, and no deep nesting. */
export function parseJsonBodies(app: FastifyInstance): void {
  app.removeContentTypeParser(['application/json', 'text/plain']);
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, parseJson(body as string));
    } catch (error) {
      done(error as Error);
    }
  });
}

/** @throws {RequestRefused} `request.invalid` */
export function parseJson(text: string): unknown {
  const { depth, values } = shapeOf(text);
  if (depth > MOST_DEPTH) throw invalid(`it is nested more than ${MOST_DEPTH} levels deep`);
  if (values > MOST_VALUES) throw invalid(`it has more than ${MOST_VALUES} values`);
  try {
    return parse(text, { protoAction: 'error', constructorAction: 'error' });
  } catch (error) {
    throw invalid(`it is no JSON that is taken here (${(error as Error).message.slice(0, 200)})`);
  }
}

/** The deepest nesting of brackets outside texts, and the number of values; an empty list counts as one more. */
function shapeOf(json: string): { depth: number; values: number } {
  let depth = 0;
  let deepest = 0;
  let values = 1;
  let isText = false;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (isText) {
      if (code === 0x5c) at += 1;
      else if (code === 0x22) isText = false;
    } else if (code === 0x22) isText = true;
    else if (code === 0x2c) values += 1;
    else if (code === 0x7b || code === 0x5b) {
      deepest = Math.max(deepest, (depth += 1));
      values += 1;
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return { depth: deepest, values };
}

function invalid(reason: string): RequestRefused {
  return new RequestRefused('request.invalid', `Cannot read the body: ${reason}.`, [{ pointer: '', detail: reason }]);
}
