// gitbeaker's door to the network. Its own handler repeats POST, ignores Retry-After and has no stream.
import {
  type DefaultRequestOptions,
  defaultOptionsHandler,
  type FormattedResponse,
  type RequesterType,
  type ResourceOptions,
  type ResponseBodyTypes,
} from '@gitbeaker/requester-utils';
import { PermanentError } from '../errors.ts';
import { toApiUrl } from '../http/api-url.ts';
import { describe, type HttpRequest, type Method } from '../http/exchange.ts';
import type { PageBudget } from '../http/page-budget.ts';
import type { Send } from '../http/send.ts';
import { readAnswer } from './read-answer.ts';

/** What is read of the pages of a list. */
export interface ListPages extends PageBudget {
  /** Set when there is more than was read. */
  hasMore: boolean;
}

/** With `pages`, lists end where their budget does. */
export function createRequester(send: Send, signal: AbortSignal | undefined, pages?: ListPages) {
  return (resource: ResourceOptions): RequesterType => {
    async function call<T extends ResponseBodyTypes>(
      method: Method,
      endpoint: string,
      options: DefaultRequestOptions = {},
    ): Promise<FormattedResponse<T>> {
      const request = await toRequest(resource, method, endpoint, options);
      return send({ ...request, signal }, async (answer) => {
        const { body, bytes } = await readAnswer(answer, describe(request));
        pages?.spend(bytes);
        return {
          status: answer.status,
          headers: pages?.isSpent() ? endList(answer.headers, pages) : answer.headers,
          // gitbeaker trusts the caller's type; what GitLab really sent is checked by the caller's schema.
          body: body as T,
        };
      });
    }
    return {
      get: (endpoint, options) => call('GET', endpoint, options),
      post: (endpoint, options) => call('POST', endpoint, options),
      put: (endpoint, options) => call('PUT', endpoint, options),
      patch: (endpoint, options) => call('PATCH', endpoint, options),
      delete: (endpoint, options) => call('DELETE', endpoint, options),
    };
  };
}

/** gitbeaker asks for the next page as long as there is a link to it. */
function endList({ link = '', ...headers }: Record<string, string>, pages: ListPages) {
  pages.hasMore = /rel="?next"?/.test(link);
  return headers;
}

async function toRequest(
  resource: ResourceOptions,
  method: Method,
  endpoint: string,
  options: DefaultRequestOptions,
): Promise<HttpRequest> {
  if (options.asStream)
    throw new PermanentError(`${endpoint}: use the client's stream() instead of asStream`);
  const { headers = {}, body, searchParams = '' } = await defaultOptionsHandler(resource, options);
  const request = { method, url: toApiUrl(resource.url, endpoint, searchParams), headers };
  // gitbeaker gives every DELETE an empty JSON object, which some proxies refuse.
  if (body === undefined || (method === 'DELETE' && body === '{}')) return request;
  return typeof body === 'string' ? { ...request, body } : { ...request, ...(await toUpload(headers, body)) };
}

/** As bytes: undici only knows its own FormData, and bytes can be sent twice. */
async function toUpload(headers: Record<string, string>, form: FormData) {
  const encoded = new Response(form);
  const contentType = encoded.headers.get('content-type') ?? 'multipart/form-data';
  return { headers: { ...headers, 'content-type': contentType }, body: await encoded.bytes() };
}
