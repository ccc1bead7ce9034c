// Connections: how long silence may last, and whose certificates are believed.
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  createSecureContext,
  getCACertificates,
  type SecureContext,
  type SecureContextOptions,
} from 'node:tls';
import { Agent, type buildConnector } from 'undici';
import { PermanentError } from '../errors.ts';

const MAX_CONNECT_MS = 10_000;

export interface AgentOptions {
  timeoutMs: number;
  /** PEM file with authorities to believe in addition to Node's own. */
  caFile?: string | undefined;
  /** For whoever needs more of a connection: a client certificate, a look at the address. */
  connect?: buildConnector.BuildOptions;
  /** Of any one answer, for who reads it as a whole; no limit unless told. */
  maxAnswerBytes?: number;
}

export function createAgent({ timeoutMs, caFile, connect, maxAnswerBytes }: AgentOptions): Agent {
  return new Agent({
    // Limits on silence, not on duration: a 100 MB log may take minutes as long as bytes keep coming.
    headersTimeout: timeoutMs,
    bodyTimeout: timeoutMs,
    ...(maxAnswerBytes !== undefined && { maxResponseSize: maxAnswerBytes }),
    // With HTTP/1.1 a broken connection fails exactly one request, so it is known which outcome is unknown.
    allowH2: false,
    connect: {
      ...connect,
      timeout: Math.min(timeoutMs, MAX_CONNECT_MS),
      // Made once: parsing the whole root store for every connection costs milliseconds each time.
      ...(caFile !== undefined && { secureContext: toSecureContext(caFile, connect) }),
    },
  });
}

/** A context stands for all that the connection itself would say of certificates. */
function toSecureContext(caFile: string, connect: buildConnector.BuildOptions = {}): SecureContext {
  const { ca = [], cert, key, passphrase } = connect as SecureContextOptions;
  return createSecureContext({ ca: [...readAuthorities(caFile), ca].flat(), cert, key, passphrase });
}

/** Node's defaults (with NODE_EXTRA_CA_CERTS) plus ours: setting `ca` alone would replace them. */
function readAuthorities(caFile: string): string[] {
  return [...getCACertificates('default'), ...readCertificates(caFile)];
}

function readCertificates(caFile: string): string[] {
  let pem: string;
  try {
    pem = readFileSync(caFile, 'utf8');
  } catch (cause) {
    throw new PermanentError(`The CA file ${caFile} can not be read`, { cause });
  }
  const certificates = pem.match(/-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----/gs) ?? [];
  if (certificates.length === 0) {
    throw new PermanentError(`The CA file ${caFile} holds no PEM certificate (-----BEGIN CERTIFICATE-----)`);
  }
  for (const [index, certificate] of certificates.entries()) {
    try {
      new X509Certificate(certificate);
    } catch (cause) {
      throw new PermanentError(`Certificate ${index + 1} in the CA file ${caFile} is damaged`, { cause });
    }
  }
  return certificates;
}
