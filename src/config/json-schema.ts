import { z } from 'zod';
import type { Path } from './problem.ts';
import { configSchema } from './schema.ts';

export type JsonSchema = z.core.JSONSchema.BaseSchema;

/** The JSON Schema (draft 2020-12) of the YAML file, for editors. */
export function configJsonSchema(): JsonSchema {
  return z.toJSONSchema(configSchema, { io: 'input', target: 'draft-2020-12' });
}

/** What the schema says about the place that a path leads to in a given document. */
export function schemaAt(path: Path, document: unknown): JsonSchema {
  let schema = pickOption(configJsonSchema(), document);
  let value = document;
  for (const key of path) {
    value = childOf(value, key);
    schema = pickOption(childSchema(schema, key), value);
  }
  return schema;
}

export function valueAt(path: Path, document: unknown): unknown {
  return path.reduce(childOf, document);
}

function childOf(value: unknown, key: PropertyKey): unknown {
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key)) return undefined;
  return Reflect.get(value, key);
}

function childSchema(schema: JsonSchema, key: PropertyKey): JsonSchema {
  const { properties = {}, additionalProperties, items, oneOf } = schema;
  if (oneOf) return { enum: oneOf.flatMap((option) => constOf(option, key)) };
  const named = Object.hasOwn(properties, key) ? properties[String(key)] : undefined;
  const child = named ?? (typeof key === 'number' ? items : additionalProperties);
  return typeof child === 'object' && !Array.isArray(child) ? child : {};
}

/** Of the alternatives that a key such as `kind` tells apart, the one the value has chosen. */
function pickOption(schema: JsonSchema, value: unknown): JsonSchema {
  const chosen = schema.oneOf?.find((option) =>
    Object.keys(option.properties ?? {}).some((key) =>
      constOf(option, key).some((only) => only === childOf(value, key)),
    ),
  );
  return chosen ?? schema;
}

function constOf({ properties = {} }: JsonSchema, key: PropertyKey): NonNullable<JsonSchema['enum']> {
  const property = properties[String(key)];
  return typeof property === 'object' && property.const !== undefined ? [property.const] : [];
}
