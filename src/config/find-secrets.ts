import { isMap, isScalar, isSeq } from 'yaml';
import type { LocatedFlaw, Path } from './problem.ts';
import { looksLikeSecret } from './secret-shape.ts';
import { secretAsName } from './values.ts';

/** Walks the YAML nodes, not the values, which aliases can make endless. */
export function* findSecrets(node: unknown, path: Path = []): Generator<LocatedFlaw> {
  if (isMap(node)) {
    for (const { key, value } of node.items) {
      const inner = [...path, isScalar(key) ? String(key.value) : ''];
      if (isSecret(key)) yield { path: inner, ...secretInFile };
      yield* findSecrets(value, inner);
    }
  } else if (isSeq(node)) {
    for (const [index, item] of node.items.entries()) yield* findSecrets(item, [...path, index]);
  } else if (isSecret(node)) {
    yield { path, ...(namesVariable(path) ? secretAsName : secretInFile) };
  }
}

function isSecret(node: unknown): boolean {
  return isScalar(node) && typeof node.value === 'string' && looksLikeSecret(node.value);
}

function namesVariable(path: Path): boolean {
  return /Envs?$/.test(String(path.findLast((segment) => typeof segment === 'string')));
}

const secretInFile = {
  message: 'a secret is written into the file',
  fix: 'remove it from here, revoke it, and put a new one into the environment variable that the section names',
};
