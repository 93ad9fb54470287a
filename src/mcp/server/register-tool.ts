import type { CallToolResult, McpServer, ServerContext, StandardSchemaWithJSON } from '@modelcontextprotocol/server';
import * as z from 'zod/mini';
import { checkOptions } from '../../contracts/checks/check-options.ts';
import { SkillcellError } from '../../contracts/errors/skillcell-error.ts';
import { fileSystemFault } from '../../durable/file-system-fault.ts';
import type { CallAdmission } from './call-admission.ts';
import { createCallProgress } from './tools/call-progress.ts';
import type { ServerTool, ToolAnswer } from './tools/server-tool.ts';

/** The result of a refused call, in place of a value. */
const REFUSAL = z.strictObject({
  error: z.strictObject({ code: z.string(), message: z.string(), hint: z.string() }),
});

/** Options that registered tools share. */
export interface RegisterOptions {
  admission: CallAdmission;
  log(line: string): void;
}

/**
 * Prepares a tool for servers: arguments are checked, refusals become results, and a call ends with its client.
 *
 * @returns a function that offers the tool on one server
 */
export function registerTool(tool: ServerTool, { admission, log }: RegisterOptions): (server: McpServer) => void {
  const { name, title, description, input, output, annotations } = tool;
  const listed = {
    title,
    description,
    annotations,
    inputSchema: advertisedSchema(input, 'input'),
    // Clients check the results of failed calls against it as well.
    outputSchema: advertisedSchema(z.union([output, REFUSAL]), 'output'),
  };
  const call = async (given: unknown, context: ServerContext): Promise<CallToolResult> => {
    const { signal } = context.mcpReq;
    const progress = createCallProgress(context, log);
    try {
      const leave = admission.enter(tool, given);
      try {
        const checked = checkArguments(tool, given);
        return resultOf(await tool.run(checked, { signal, progress }));
      } finally {
        leave();
      }
    } catch (thrown) {
      const error = asRefusal(thrown);
      // A call that its client gave up is no fault, and its answer is not read.
      const isGivenUp = signal.aborted && thrown === signal.reason;
      if (error.code === 'internal.fault' && !isGivenUp) log(`${name}: ${String((thrown as Error).stack ?? thrown)}`);
      const { code, message, hint } = error;
      return resultOf({ value: { error: { code, message, hint } }, failed: true });
    } finally {
      progress.end();
    }
  };
  return (server) => void server.registerTool(name, listed, call);
}

function checkArguments({ name, input }: ServerTool, given: unknown): unknown {
  try {
    return checkOptions(input, given ?? {}, { action: `call ${name}`, whole: 'the arguments' });
  } catch (error) {
    if (!SkillcellError.isInstance(error)) throw error;
    const hint = 'Correct the named argument; the schema in tools/list has all arguments.';
    throw new SkillcellError(error.code, error.message, { cause: error, hint });
  }
}

function asRefusal(thrown: unknown): SkillcellError {
  if (SkillcellError.isInstance(thrown)) return thrown;
  const ofPlace = fileSystemFault(thrown);
  if (ofPlace !== undefined) return ofPlace;
  const reason = thrown instanceof Error ? thrown.message : String(thrown);
  return new SkillcellError('internal.fault', `Cannot go on: ${reason}`, { cause: thrown });
}

/** The same value as text, for clients and models that read only text. */
function resultOf({ value, content = [], failed = false }: ToolAnswer): CallToolResult {
  const text = { type: 'text' as const, text: JSON.stringify(value) };
  return { content: [text, ...content], structuredContent: value, ...(failed ? { isError: true } : {}) };
}

/**
 * A schema as the protocol's library lists it. It accepts every value: arguments are checked where the call is made, so that their faults
 * are reported like all other refusals.
 */
function advertisedSchema(schema: z.core.$ZodType, io: 'input' | 'output'): StandardSchemaWithJSON {
  let json: Record<string, unknown> | undefined;
  const written = (): Record<string, unknown> => (json ??= withoutDialect(schema, io));
  return {
    '~standard': {
      version: 1,
      vendor: 'skillcell',
      validate: (value) => ({ value }),
      jsonSchema: { input: written, output: written },
    },
  };
}

/** Validators of older clients refuse a dialect with an unknown name; the keywords here are in all dialects. */
function withoutDialect(schema: z.core.$ZodType, io: 'input' | 'output'): Record<string, unknown> {
  const { $schema: _dialect, '~standard': _standard, ...json } = z.toJSONSchema(schema, { io });
  return json;
}
