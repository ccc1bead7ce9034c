import { createRedactor } from '../../src/redact/redactor.ts';
import { createToolbox as create, type ToolboxOptions } from '../../src/tools/toolbox.ts';

/** Of a service that holds no secrets. */
export const redactor = createRedactor({ secrets: [] });

export function createToolbox(options: Omit<ToolboxOptions, 'redactor'>) {
  return create({ redactor, ...options });
}
