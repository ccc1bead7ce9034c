// A project's webhook and what became of the events that were sent to it.

export type HookEvent =
  | 'push_events'
  | 'merge_requests_events'
  | 'note_events'
  | 'confidential_note_events'
  | 'pipeline_events'
  | 'job_events'
  | 'emoji_events';

export type HookPayload = Readonly<Record<string, unknown>>;

/** Something happened that GitLab tells its hooks. */
export type Announcement = { projectId: number; event: HookEvent; payload: HookPayload };

export type Hook = {
  id: number;
  projectId: number;
  url: string;
  token: string | null;
  signingToken: string | null;
  events: readonly HookEvent[];
  /** In a row; one success sets it back to 0. */
  recentFailures: number;
  disabledUntil: Date | null;
  permanentlyDisabled: boolean;
  /** One entry for each attempt, oldest first. */
  deliveries: Delivery[];
};

export type Delivery = {
  id: number;
  hookId: number;
  event: HookEvent;
  idempotencyKey: string;
  attempt: number;
  /** `null`: there was no answer; `error` says why. */
  status: number | null;
  error: string | null;
  /** As sent, without X-Gitlab-Token. */
  requestHeaders: Record<string, string>;
  requestBody: string;
  responseBody: string;
  durationMs: number;
};
