import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { configJsonSchema, defaultConfigText } from '../../../src/config/config.ts';
import { load } from './problems.ts';

type Schema = ReturnType<typeof configJsonSchema>;

const text = defaultConfigText();

describe('the text of config init', () => {
  it('points editors to the JSON Schema on its first line', () => {
    expect(text.split('\n')[0]).toBe('# yaml-language-server: $schema=./hummingbird.schema.json');
  });

  it('means exactly the embedded defaults', () => {
    expect(load(text)).toEqual(load(''));
  });

  it('shows every key of the schema, commented or not', () => {
    const shown = new Set(Array.from(text.matchAll(/^[ #-]*(\w+):(?: |$)/gm), ([, key]) => key));
    const keys = propertiesOf(configJsonSchema()).map(({ key }) => key);

    expect(keys.length).toBeGreaterThan(60);
    expect(keys.filter((key) => !shown.has(key))).toEqual([]);
  });

  it('shows only keys that exist: with the comments taken off, each alternative is valid too', () => {
    const konflux = uncomment(section('sources')).replace('sources: {}', 'sources:');
    const s3 = uncomment(section('store')).replace(/ {2}kind: folder\n {2}dir: .*\n/, '');
    const docker = uncomment(section('sandbox')).replace(/ {2}kind: virtual.*\n {2}maxBytes: .*\n/, '');
    const gitlab = uncomment(section('gitlab'));
    const models = uncomment(section('models'));

    const config = load([konflux, s3, docker, gitlab, models].join('\n'));

    expect(config.sources.konflux?.clusters).toMatchObject([
      { name: 'konflux', namespaces: { 'group/**': 'my-team-tenant' } },
      { name: 'second', context: 'reader' },
      { name: 'own', inCluster: true },
    ]);
    expect(config.sources.testingFarm).toEqual(
      load(
        'sources: { testingFarm: { tokenEnv: TESTING_FARM_TOKEN, testRepositories: ["https://gitlab.example.com/qe/tests"] } }',
      ).sources.testingFarm,
    );
    expect(config.store).toMatchObject({ kind: 's3', bucket: 'hummingbird-sessions', forcePathStyle: true });
    expect(config.sandbox).toEqual({
      ...load('sandbox: { kind: docker }').sandbox,
      url: 'http://127.0.0.1:2375',
      runtime: 'runsc',
    });
    expect(config.gitlab.caFile).toBe('/etc/ssl/certs/company-ca.pem');
    expect(config.models.main[0]).toMatchObject({ maxOutputTokens: 16_000, thinking: 'medium' });
    expect(config.models.main[2]).toEqual({
      provider: 'anthropic',
      model: 'claude-sonnet-5-5',
      vertex: { project: 'my-project', location: 'global', credentialsEnv: 'VERTEX_CREDENTIALS' },
    });
  });

  it('explains every section', () => {
    const lines = text.split('\n');
    const unexplained = Object.keys(parse(text)).filter((name) => {
      const at = lines.findIndex((line) => line.startsWith(`${name}:`));
      return !/^# [A-Z].*\.$/.test(lines[at - 1] ?? '');
    });

    expect(unexplained).toEqual([]);
  });
});

describe('the JSON Schema', () => {
  it('is of the draft that editors know, and survives being written to a file', () => {
    const schema = configJsonSchema();

    expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema);
  });

  it('describes every key', () => {
    const silent = propertiesOf(configJsonSchema()).filter(({ schema }) => !schema.description);

    expect(silent.map(({ key }) => key)).toEqual([]);
  });

  it('accepts the text of config init', () => {
    expect(violations(configJsonSchema(), parse(text), '')).toEqual([]);
  });

  it('refuses what the configuration refuses', () => {
    const wrong = {
      queue: { concurrency: 0, concurency: 1 },
      log: { level: 'loud' },
      gitlab: { readTokenEnv: 'glpat-x' },
      store: { kind: 'tape' },
      projects: { 'a/b': { usdPerDay: 0 } },
    };

    expect(violations(configJsonSchema(), wrong, '').sort()).toEqual([
      '/gitlab/readTokenEnv',
      '/log/level',
      '/projects/a/b/usdPerDay',
      '/queue/concurency',
      '/queue/concurrency',
      '/store',
    ]);
  });

  it('requires nothing that has a default', () => {
    expect(configJsonSchema().required).toBeUndefined();
    expect(violations(configJsonSchema(), {}, '')).toEqual([]);
  });
});

function section(name: string): string {
  return new RegExp(`^${name}:[^]*?(?=\\n\\n|$(?![^]))`, 'm').exec(text)?.[0].concat('\n') ?? '';
}

function uncomment(part: string): string {
  return part
    .replace(/^#( {2})/gm, '$1')
    .replace(/^( +)# (\w+:)/gm, '$1$2')
    .replace(/^( +)# (- | {2})/gm, '$1$2');
}

function propertiesOf(schema: Schema): { key: string; schema: Schema }[] {
  const own = Object.entries(schema.properties ?? {}).flatMap(([key, property]) =>
    typeof property === 'object' ? [{ key, schema: property }, ...propertiesOf(property)] : [],
  );
  const inner = [schema.items, schema.additionalProperties, ...(schema.oneOf ?? []), ...(schema.anyOf ?? [])];
  return [...own, ...inner.filter(isSchema).flatMap((part) => propertiesOf(part))];
}

/** A validator of the few words of JSON Schema that the configuration uses; answers with the places that are wrong. */
function violations(schema: Schema, value: unknown, at: string): string[] {
  const options = schema.oneOf ?? schema.anyOf;
  if (options) return options.some((option) => violations(option, value, at).length === 0) ? [] : [at];
  if (schema.const !== undefined) return value === schema.const ? [] : [at];
  if (schema.enum) return schema.enum.some((choice) => choice === value) ? [] : [at];
  if (schema.type === 'object') return isRecord(value) ? objectViolations(schema, value, at) : [at];
  if (schema.type === 'array') return Array.isArray(value) ? arrayViolations(schema, value, at) : [at];
  return isScalarValid(schema, value) ? [] : [at];
}

function objectViolations(schema: Schema, value: Record<string, unknown>, at: string): string[] {
  const missing = (schema.required ?? []).filter((key) => !(key in value)).map((key) => `${at}/${key}`);
  const wrong = Object.entries(value).flatMap(([key, item]) => {
    const child = schema.properties?.[key] ?? schema.additionalProperties;
    return isSchema(child) ? violations(child, item, `${at}/${key}`) : [`${at}/${key}`];
  });
  return [...missing, ...wrong];
}

function arrayViolations({ items, minItems = 0 }: Schema, value: unknown[], at: string): string[] {
  if (value.length < minItems) return [at];
  return isSchema(items) ? value.flatMap((item, index) => violations(items, item, `${at}/${index}`)) : [];
}

function isScalarValid(schema: Schema, value: unknown): boolean {
  if (schema.type === 'boolean') return typeof value === 'boolean';
  if (schema.type === 'string') {
    const { minLength = 0, pattern = '' } = schema;
    return typeof value === 'string' && value.length >= minLength && new RegExp(pattern).test(value);
  }
  const { minimum = -Infinity, exclusiveMinimum = -Infinity, maximum = Infinity } = schema;
  if (typeof value !== 'number' || (schema.type === 'integer' && !Number.isInteger(value))) return false;
  return value >= minimum && value > Number(exclusiveMinimum) && value <= maximum;
}

function isSchema(part: unknown): part is Schema {
  return isRecord(part);
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
