import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Config, ConfigError, loadConfig, type Problem } from '../../../src/config/config.ts';

/** Loads the text from a file of its own. */
export function load(text: string): Config {
  const folder = mkdtempSync(join(tmpdir(), 'hummingbird-config-'));
  try {
    writeFileSync(join(folder, 'hummingbird.yaml'), text);
    return loadConfig({ cwd: folder, env: {} }).config;
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export function problemsOf(text: string): readonly Problem[] {
  return errorOf(() => load(text)).problems;
}

export function errorOf(action: () => unknown): ConfigError {
  try {
    action();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('expected a ConfigError, but nothing was thrown');
}
