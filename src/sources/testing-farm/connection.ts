import type { Clock } from '../../http/clock.ts';
import { createHttpReader } from '../../http/http-reader.ts';
import type { HttpLog } from '../../http/repeat.ts';
import type { Scope } from './scope.ts';

export interface TestingFarmOptions {
  /** Of the API, with its version. */
  url: string;
  artifactsUrl: string;
  /** For the API only; requests are public. */
  token?: string | undefined;
  timeoutMs?: number;
  log?: HttpLog | undefined;
  clock?: Clock | undefined;
}

/** Testing Farm, connected for all jobs. */
export interface TestingFarm {
  readonly readers: Pick<Scope, 'api' | 'artifacts' | 'artifactsUrl'>;
  close(): Promise<void>;
}

export function openTestingFarm(options: TestingFarmOptions): TestingFarm {
  const { url, artifactsUrl, token, ...shared } = options;
  const authorize = async () => ({ ...(token !== undefined && { authorization: `Bearer ${token}` }) });
  const api = createHttpReader({ who: 'Testing Farm', url, authorize, ...shared });
  const artifacts = createHttpReader({ who: 'the artifacts of Testing Farm', url: artifactsUrl, ...shared });
  return {
    readers: { api, artifacts, artifactsUrl },
    async close() {
      await Promise.all([api.close(), artifacts.close()]);
    },
  };
}
