import { notFound } from '../api-error.ts';
import type { Call, Router } from '../call.ts';
import type { Artifacts } from '../model.ts';
import { jobOf } from './jobs.ts';

export function addArtifactRoutes(router: Router): void {
  const artifacts = '/projects/:id/jobs/:jobId/artifacts';

  router.get(artifacts, (call) => {
    const { archive } = artifactsOf(call);
    call.reply.headers({
      'content-type': 'application/zip',
      'content-disposition': 'attachment; filename="artifacts.zip"',
      'accept-ranges': 'bytes',
    });
    return sendRange(call, archive);
  });

  router.get(`${artifacts}/*`, (call) => {
    const file = artifactsOf(call).files.get(call.param('*'));
    if (file === undefined) throw notFound();
    return call.reply.type('application/octet-stream').send(file);
  });
}

function artifactsOf(call: Call): Artifacts {
  const found = call.world.artifacts.get(jobOf(call).id);
  if (found === undefined) throw notFound();
  return found;
}

/** Files are served by the proxy before GitLab or by an object store, and both know parts. */
function sendRange(call: Call, content: Buffer) {
  const asked = /^bytes=(\d+)-(\d*)$/.exec(call.request.headers.range ?? '');
  if (!asked) return call.reply.send(content);
  const first = Number(asked[1]);
  const last = Math.min(asked[2] ? Number(asked[2]) : Number.POSITIVE_INFINITY, content.length - 1);
  if (first > last) return call.reply.code(416).header('content-range', `bytes */${content.length}`).send();
  return call.reply
    .code(206)
    .header('content-range', `bytes ${first}-${last}/${content.length}`)
    .send(content.subarray(first, last + 1));
}
