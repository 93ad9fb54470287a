import { isList, isObject, isText, isTextList } from '../../document/kinds-of-values.ts';
import { partAt, partsByName } from '../../document/schema-part.ts';
import { SchemaRefused } from '../../schema-refused.ts';
import { optional, optionalList, optionalNamed, type Keyword } from './keyword.ts';
import { hasAll } from './keywords-of-objects.ts';
import { attempt, evaluate, type Check, type SchemaNode } from '../node.ts';
import { fault, isSettled, spend } from '../run.ts';

/** Keywords of both drafts that apply other schemas to the same value. */
export const KEYWORDS_OF_SCHEMAS: readonly Keyword[] = [
  {
    names: ['$ref'],
    read(reading) {
      const reference = optional(reading, '$ref', isText, 'a text');
      if (reference === undefined) return undefined;
      const referred = reading.referred(reference);
      return (value, run, marks) => evaluate(referred.node, value, run, marks);
    },
  },
  {
    names: ['allOf'],
    read(reading) {
      const nodes = optionalList(reading, 'allOf')?.map(reading.inPlace);
      return (
        nodes &&
        allOf(
          nodes.map(
            (node): Check =>
              (value, run, marks) =>
                evaluate(node, value, run, marks),
          ),
        )
      );
    },
  },
  {
    names: ['anyOf'],
    read(reading) {
      const nodes = optionalList(reading, 'anyOf')?.map(reading.inPlace);
      return (
        nodes &&
        ((value, run, marks) => {
          let fits = false;
          for (const node of nodes) {
            fits = attempt(node, value, run, marks) || fits;
            // With marks, further fitting alternatives may mark other parts.
            if (fits && marks === undefined) break;
          }
          return fits || fault(run, `fits none of ${nodes.length} alternatives`);
        })
      );
    },
  },
  {
    names: ['oneOf'],
    read(reading) {
      const nodes = optionalList(reading, 'oneOf')?.map(reading.inPlace);
      return (
        nodes &&
        ((value, run, marks) => {
          let fitting = 0;
          for (const node of nodes) {
            if (attempt(node, value, run, marks)) fitting += 1;
            if (fitting > 1) return fault(run, `fits more than one of ${nodes.length} alternatives`);
          }
          return fitting === 1 || fault(run, `fits none of ${nodes.length} alternatives`);
        })
      );
    },
  },
  {
    names: ['not'],
    read(reading) {
      const part = partAt(reading.part, 'not');
      if (part === undefined) return undefined;
      const node = reading.inPlace(part);
      return (value, run) => !attempt(node, value, run, undefined) || fault(run, 'must not fit the schema of "not"');
    },
  },
  {
    names: ['if', 'then', 'else'],
    read(reading) {
      const [condition, then, otherwise] = ['if', 'then', 'else'].map((name) => {
        const part = partAt(reading.part, name);
        return part && reading.inPlace(part);
      });
      if (condition === undefined) return undefined;
      return (value, run, marks) => {
        const branch = attempt(condition, value, run, marks) ? then : otherwise;
        return branch === undefined || evaluate(branch, value, run, marks);
      };
    },
  },
];

const DEPENDENT_REQUIRED: Keyword = {
  names: ['dependentRequired'],
  read(reading) {
    const byName = optional(reading, 'dependentRequired', isTextListByName, 'an object of lists of names');
    return byName && allOf(Object.entries(byName).map(([name, names]) => requires(name, names)));
  },
};

const DEPENDENT_SCHEMAS: Keyword = {
  names: ['dependentSchemas'],
  read(reading) {
    const schemas = optionalNamed(reading, 'dependentSchemas');
    return allOf(schemas.map(([name, part]) => asks(name, reading.inPlace(part))));
  },
};

/** Rules that apply if a property is present, in draft-07. */
const DEPENDENCIES: Keyword = {
  names: ['dependencies'],
  read(reading) {
    optional(reading, 'dependencies', isObject, 'an object of schemas and lists of names');
    return allOf(
      partsByName(reading.part, 'dependencies').map(([name, part]) => {
        if (!isList(part.value)) return asks(name, reading.inPlace(part));
        if (!isTextList(part.value))
          throw new SchemaRefused('the keyword "dependencies" with another list than one of names');
        return requires(name, part.value);
      }),
    );
  },
};

/** Rules that apply if a property is present, by draft. */
export const KEYWORDS_OF_DEPENDENTS_2020: readonly Keyword[] = [DEPENDENT_REQUIRED, DEPENDENT_SCHEMAS];
export const KEYWORDS_OF_DEPENDENTS_07: readonly Keyword[] = [DEPENDENCIES];

function isTextListByName(value: unknown): value is Record<string, readonly string[]> {
  return isObject(value) && Object.values(value).every(isTextList);
}

function requires(name: string, names: readonly string[]): Check {
  return (value, run) => !isObject(value) || !Object.hasOwn(value, name) || hasAll(value, names, run);
}

function asks(name: string, node: SchemaNode): Check {
  return (value, run, marks) => !isObject(value) || !Object.hasOwn(value, name) || evaluate(node, value, run, marks);
}

/** Applies all checks, until no more faults are needed. */
function allOf(checks: readonly Check[]): Check {
  return (value, run, marks) => {
    spend(run, checks.length);
    let fits = true;
    for (const check of checks) {
      fits = check(value, run, marks) && fits;
      if (!fits && isSettled(run)) break;
    }
    return fits;
  };
}
