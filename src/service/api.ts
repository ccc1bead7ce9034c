import { projectLimits } from '../config/config.ts';
import type { AgentAccount } from '../publish/agent-account.ts';
import { createIntake } from '../webhook/intake.ts';
import { webhookRoutes } from '../webhook/routes.ts';
import { openSpool } from '../webhook/spool.ts';
import type { Assembly } from './assembly.ts';

export async function addWebhook(
  { config, secrets, backend, app, checks, log, now, onStop }: Assembly,
  agent: AgentAccount | null,
): Promise<void> {
  const spool = await openSpool({
    ...config.webhook.spool,
    onBadFile: (file, err) => log.error({ file, err }, 'spooled event can not be read, set aside'),
  });
  const checkBackend = async (): Promise<void> => backend.current().database.ping();
  const intake = createIntake({
    // Looked up for each event: the backend may come later than the first one.
    queue: { add: (...args) => backend.current().queue.add(...args) },
    events: {
      isKnown: (...args) => backend.current().records.events.isKnown(...args),
      claim: (...args) => backend.current().records.events.claim(...args),
      remember: (...args) => backend.current().records.events.remember(...args),
      release: (...args) => backend.current().records.events.release(...args),
    },
    spool,
    checkBackend,
    log,
    now,
    rememberMs: config.webhook.rememberEventsMs,
  });
  onStop(() => intake.stop());
  checks.push({ name: 'spool', required: false, check: () => spool.check() });
  checks.push({
    name: 'intake',
    required: true,
    // Either of them is enough to take an event.
    check: () =>
      checkBackend()
        .catch(() => spool.check())
        .then(() => undefined),
  });
  if (!agent)
    log.warn("without the write token this process does not know the agent's own notes; the worker does");

  await app.register(
    webhookRoutes({
      verify: {
        tokens: secrets.webhookTokens,
        signingKeys: secrets.webhookSigningKeys,
        replayWindowMs: config.webhook.replayWindowMs,
        now,
      },
      context: () => ({
        agent: agent?.known() ?? null,
        isAllowed: (project) => projectLimits(config, project) !== null,
        ignoreUsers: config.gitlab.ignoreUsers,
      }),
      intake,
      maxBodyBytes: config.webhook.maxBodyBytes,
    }),
  );
}
