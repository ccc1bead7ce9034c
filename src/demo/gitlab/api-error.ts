/** An answer other than success, in the words that GitLab uses for it. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;

  constructor(status: number, body: Readonly<Record<string, unknown>>) {
    super(JSON.stringify(body));
    this.status = status;
    this.body = body;
  }
}

export function unauthorized(): ApiError {
  return new ApiError(401, { message: '401 Unauthorized' });
}

export function forbidden(): ApiError {
  return new ApiError(403, { message: '403 Forbidden' });
}

/** GitLab names what it looked for by its own rules (`404 Project Not Found`) or says `404 Not found`. */
export function notFound(what?: string): ApiError {
  return new ApiError(404, { message: what === undefined ? '404 Not found' : `404 ${what} Not Found` });
}

export function badRequest(why: string): ApiError {
  return new ApiError(400, { message: `400 Bad request - ${why}` });
}

export function missing(field: string): ApiError {
  return new ApiError(400, { error: `${field} is missing` });
}
