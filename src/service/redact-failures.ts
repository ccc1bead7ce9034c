import type { JobHandler } from '../queue/queue.ts';
import { redactError } from '../redact/redact-error.ts';
import type { Redactor } from '../redact/redactor.ts';

/** The queue keeps why a job failed. */
export function redactFailures(run: JobHandler, redactor: Redactor): JobHandler {
  return (context) =>
    run(context).catch((error) => {
      throw redactError(error, redactor);
    });
}
