// What stands in the place of a control that is switched off. Only tests can: no setting of the service does.
import { execFile } from 'node:child_process';
import { posix } from 'node:path';
import { PassThrough } from 'node:stream';
import type { Toolbox } from '../../src/agent/toolbox.ts';
import type { GitlabClient } from '../../src/gitlab/client.ts';
import type { InvestigationDependencies } from '../../src/jobs/investigate.ts';
import type { Markers } from '../../src/publish/marker.ts';
import type { Notes } from '../../src/publish/notes.ts';
import type { Redactor } from '../../src/redact/redactor.ts';
import type { ExecResult, Sandbox } from '../../src/sandbox/sandbox.ts';
import type { OpenedStore } from '../../src/session/create-store.ts';
import type { Audience } from '../../src/sources/gitlab/audience.ts';

export type Control =
  | 'redactor'
  | 'safe notes'
  | 'link hosts'
  | 'evidence check'
  | 'canary'
  | 'scope'
  | 'tools that only read'
  | 'token that only reads'
  | 'sandbox'
  | 'kept paths'
  | 'who may ask'
  | "who wrote, by GitLab's word"
  | 'projects of the configuration'
  | 'logs for members only'
  | 'signed marks'
  | 'session binding'
  | 'limit of turns'
  | 'limit of money';

/** Finds nothing. */
export const blindRedactor: Redactor = {
  text: (text) => text,
  value: (value) => value,
  stream: () => new PassThrough(),
  maskingStream: () => new PassThrough(),
  pieces: () => ({ push: (text) => text, end: () => '' }),
  isClean: () => true,
  openHolder: () => () => undefined,
  counts: () => ({}),
};

/** Posts what it is given. */
export function postRaw(notes: Notes, client: GitlabClient, markers: Markers): Notes {
  return {
    ...notes,
    async ensureAnalysis({ mr, sessionId, body }) {
      const place = { projectId: mr.projectId, mrIid: mr.iid };
      const mark = markers.write({ ...place, kind: 'analysis', sessionId });
      const { id } = await client.api.MergeRequestNotes.create(mr.projectId, mr.iid, `${body}\n\n${mark}`);
      return { noteId: id, discussionId: '', outcome: 'created' };
    },
    async ensureReply({ mr, sessionId, body, discussionId, replyTo }) {
      const place = { projectId: mr.projectId, mrIid: mr.iid };
      const mark = markers.write({ ...place, kind: 'reply', sessionId, replyTo });
      const text = `${body}\n\n${mark}`;
      const { MergeRequestDiscussions } = client.api;
      const { id } = await MergeRequestDiscussions.addNote(mr.projectId, mr.iid, discussionId, text);
      return { noteId: id, discussionId, outcome: 'created' };
    },
  };
}

export const believingGuards: InvestigationDependencies['guards'] = {
  createCanaryGuard: () => ({ hook: {}, clean: (text) => text, hasWithheld: () => false }),
  createEvidenceCheck: () => ({ hook: {}, finish: async (text) => ({ text, evidence: null }) }),
};

/** Believes whatever looks like a mark. */
export function believeMarks(markers: Markers): Markers {
  return {
    ...markers,
    read(body) {
      const [, kind, sessionId, replyTo] = MARK.exec(body) ?? [];
      if (sessionId === undefined) return null;
      return kind === 'reply'
        ? { kind, sessionId, replyTo: Number(replyTo) }
        : { kind: 'analysis', sessionId };
    },
  };
}

const MARK = /<!-- hummingbird:1 kind=(\w+) session=([\w.-]+)(?: reply-to=(\d+))? sig=\S+ -->\s*$/;

/** Does not know whose a session is. */
export function forgetOwners(store: OpenedStore): OpenedStore {
  return {
    ...store,
    async load(id) {
      const session = await store.load(id);
      return session && { ...session, meta: null };
    },
  };
}

/** Does not see that more people look on: without an owner a session is for members only. */
export function overlookVisibility(audience: Audience): Pick<Audience, 'ofProject'> {
  return {
    ofProject: async (...args) => ({ ...(await audience.ofProject(...args)), visibility: 'private' }),
  };
}

/** Commands run on this machine, where there is a network, and something in the environment. */
export function onHost(sandbox: Sandbox, env: NodeJS.ProcessEnv): Sandbox {
  return {
    ...sandbox,
    exec: (command, { timeoutMs }) =>
      new Promise<ExecResult>((resolve) => {
        execFile('bash', ['-c', command], { env, timeout: timeoutMs }, (error, stdout, stderr) =>
          resolve({ exitCode: error ? 1 : 0, stdout, stderr, ending: 'exited', truncated: false }),
        );
      }),
  };
}

/** Fetches to wherever it is told. */
export function fetchAnywhere(toolbox: Toolbox, sandbox: Sandbox): Toolbox {
  return {
    ...toolbox,
    async execute(call, options) {
      const { tool, args, path } = call.arguments;
      if (call.name !== 'fetch_to_sandbox' || typeof path !== 'string') return toolbox.execute(call, options);
      const source = { id: call.id, name: String(tool), arguments: { ...(args as object) } };
      const { result } = await toolbox.execute(source, options);
      await sandbox.writeFile(posix.resolve('/tmp/data', path), JSON.stringify(result));
      return { result: { saved_to: path }, isError: false };
    },
  };
}

/** With one tool more, which writes as whoever the client is. */
export function withWritingTool(toolbox: Toolbox, client: GitlabClient): Toolbox {
  const name = 'gitlab_post_note';
  return {
    ...toolbox,
    definitions: [...toolbox.definitions, { name, description: 'Posts', inputSchema: { type: 'object' } }],
    async execute(call, options) {
      if (call.name !== name) return toolbox.execute(call, options);
      const { project_id, iid, body } = call.arguments;
      try {
        await client.api.MergeRequestNotes.create(Number(project_id), Number(iid), String(body));
        return { result: { posted: true }, isError: false };
      } catch (error) {
        return { result: { error: String(error) }, isError: true };
      }
    },
  };
}
