// The pieces of random conversations.
import fc from 'fast-check';

export interface CallShape {
  name: string;
  args: Record<string, unknown>;
}

/** Never blank: no provider writes or takes that. */
export const texts = fc
  .oneof(fc.constantFrom('So.', ' \n why? ', '[]', '{"iid":7}'), fc.string({ unit: 'binary', maxLength: 12 }))
  .filter((text) => text.trim() !== '');

export const plainNames = fc.constantFrom('sandbox_exec', 'gitlab_get_job_log');
/** Some models make up a prefix. */
export const oddNames = fc.oneof(plainNames, fc.constantFrom('default_api.sandbox_exec', 'run:it'));

export const objects: fc.Arbitrary<Record<string, unknown>> = fc
  .dictionary(fc.constantFrom('command', 'path', 'n', 'ü'), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 })
  // As it comes out of a file: without -0.
  .map((value) => JSON.parse(JSON.stringify(value)));

export function callShapes(names: fc.Arbitrary<string>): fc.Arbitrary<CallShape[]> {
  return fc.array(fc.record({ name: names, args: objects }), { maxLength: 3 });
}

const anything = fc.jsonValue({ maxDepth: 1 });
/** What a file may hold where a provider's own form should be. */
export const garbage: fc.Arbitrary<unknown> = fc.oneof(
  anything,
  fc.array(fc.record({ type: fc.constantFrom('text', 'tool_use'), text: anything, input: anything })),
  fc.record({ parts: fc.array(fc.oneof(anything, fc.record({ text: anything, functionCall: anything }))) }),
  fc.record({
    message: fc.record({ content: anything, tool_calls: fc.oneof(anything, fc.array(anything)) }),
  }),
  fc.record({ message: fc.record({ tool_calls: fc.array(fc.record({ function: anything })) }) }),
);
