import type { Logger } from 'pino';
import { listSecrets, type Secrets } from '../config/config.ts';
import { findEnvironmentSecrets } from '../redact/environment-secrets.ts';
import { MIN_SECRET_CHARS } from '../redact/own-secrets.ts';
import { createRedactor, type Redactor } from '../redact/redactor.ts';

/** For all that this process holds, whoever of it needs what. */
export function openRedactor(secrets: Secrets, log: Logger): Redactor {
  const onTooShort = (count: number): void =>
    log.warn(
      { count, minCharacters: MIN_SECRET_CHARS },
      'secrets are too short to be kept out of logs and notes; use longer ones',
    );
  const all = [...listSecrets(secrets), ...findEnvironmentSecrets(secrets.environment)];
  return createRedactor({ secrets: [...new Set(all)], onTooShort });
}
