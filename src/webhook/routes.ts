// POST /webhooks/gitlab: verify, route, hand over, answer. GitLab switches a hook off that fails often,
// so everything that is authentic JSON gets a 2xx.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Intake } from './intake.ts';
import { route } from './route.ts';
import type { RouteContext } from './routing.ts';
import { isSigned, type VerifyOptions, verifySignature, verifyToken } from './verify.ts';

export interface WebhookOptions {
  verify: VerifyOptions;
  /** Asked for each event: who the agent is may be learned later. */
  context: () => RouteContext;
  intake: Intake;
  maxBodyBytes: number;
}

export function webhookRoutes(options: WebhookOptions) {
  return async (app: FastifyInstance): Promise<void> => {
    // The signature is over the bytes as they came.
    app.removeAllContentTypeParsers();
    app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));

    app.route({
      method: 'POST',
      url: '/webhooks/gitlab',
      bodyLimit: options.maxBodyBytes,
      // A wrong token is refused before its body is read.
      onRequest: async (request, reply) => {
        // Whatever it calls itself, it is read as JSON.
        request.headers['content-type'] = 'application/octet-stream';
        if (isSigned(request.headers, options.verify)) return;
        const verdict = verifyToken(request.headers, options.verify);
        if (!verdict.ok) return refuse(request, reply, verdict.reason);
      },
      handler: (request, reply) => handle(request, reply, options),
    });
  };
}

async function handle(
  request: FastifyRequest,
  reply: FastifyReply,
  options: WebhookOptions,
): Promise<FastifyReply> {
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  if (isSigned(request.headers, options.verify)) {
    const verdict = verifySignature(request.headers, body, options.verify);
    if (!verdict.ok) return refuse(request, reply, verdict.reason);
  }
  const parsed = parseJson(body);
  if (!parsed) return reply.code(400).send({ error: 'the body is not JSON' });

  const routing = route(parsed.value, options.context());
  if (routing.kind === 'ignored') {
    request.log.info({ reason: routing.reason }, 'event ignored');
    return reply.code(200).send({ status: 'ignored', reason: routing.reason });
  }
  const { job, eventKey } = routing;
  const delivery = request.headers['idempotency-key'];
  const keys = typeof delivery === 'string' && delivery ? [eventKey, `delivery/${delivery}`] : [eventKey];
  try {
    const outcome = await options.intake.accept({ job, eventKey, keys });
    request.log.info(
      { ...outcome, kind: job.kind, project: job.project.path, mr: job.mrIid },
      'event accepted',
    );
    return reply.code(outcome.status === 'duplicate' ? 200 : 202).send(outcome);
  } catch (error) {
    request.log.error({ err: error }, 'event could be neither queued nor spooled');
    return reply
      .code(503)
      .send({ error: 'the event could be neither queued nor kept on disk; send it again later' });
  }
}

function refuse(request: FastifyRequest, reply: FastifyReply, reason: string): FastifyReply {
  request.log.warn({ reason, remote: request.ip }, 'webhook refused');
  return reply.code(401).send({ error: reason });
}

function parseJson(body: Buffer): { value: unknown } | null {
  try {
    return { value: JSON.parse(body.toString('utf8').replace(/^\ufeff/, '')) };
  } catch {
    return null;
  }
}
