import { z } from 'zod';

/** What somebody who plays the model writes. */
export type FileResponse = FileAnswer | FileFailure;
export type FileAnswer = z.infer<typeof answer>;
export type FileFailure = z.infer<typeof failure>;

const answer = z
  .strictObject({
    text: z.string().optional(),
    calls: z
      .array(z.strictObject({ name: z.string().min(1), arguments: z.looseObject({}).default({}) }))
      .optional(),
  })
  .refine(({ text, calls }) => text !== undefined || calls !== undefined, {
    error: 'says nothing: give "text", "calls", or "error" with "kind"',
  });

const failure = z.strictObject({
  error: z.string().min(1),
  kind: z.enum(['retry', 'switch', 'stop', 'too-long']),
});

export type ParsedResponse =
  | { response: FileResponse }
  /** `isJson`: it is not going to get better by waiting for the rest. */
  | { problem: string; isJson: boolean };

export function parseResponse(text: string): ParsedResponse {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { problem: String(error), isJson: false };
  }
  const isFailure = typeof value === 'object' && value !== null && 'error' in value;
  const checked = (isFailure ? failure : answer).safeParse(value);
  if (checked.success) return { response: checked.data };
  return { problem: z.prettifyError(checked.error), isJson: true };
}
