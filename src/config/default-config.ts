import { readFileSync } from 'node:fs';

/** The text that `config init` writes: every section explained, every default visible. */
export function defaultConfigText(): string {
  return readFileSync(new URL('./default-config.yaml', import.meta.url), 'utf8');
}
