import { expect, test } from 'vitest';
import { parseMergeRequestUrl } from '../../../src/service/merge-request-url.ts';

test.each([
  [
    'https://gitlab.example.com/shop/checkout/-/merge_requests/7',
    'https://gitlab.example.com',
    'shop/checkout',
  ],
  [
    'https://gitlab.example.com/a/b/c/-/merge_requests/7/diffs?x=1#note_3',
    'https://gitlab.example.com/',
    'a/b/c',
  ],
  [
    'https://gitlab.example.com/shop/checkout/merge_requests/7',
    'https://gitlab.example.com',
    'shop/checkout',
  ],
  [
    'https://example.com/gitlab/shop/checkout/-/merge_requests/7',
    'https://example.com/gitlab',
    'shop/checkout',
  ],
])('%s on %s is !7 of %s', (url, gitlab, projectPath) => {
  expect(parseMergeRequestUrl(url, gitlab)).toEqual({ projectPath, iid: 7 });
});

test.each([
  ['7', 'is not a URL'],
  ['https://other.example.com/shop/checkout/-/merge_requests/7', 'is not the configured GitLab'],
  ['https://gitlab.example.com/shop/checkout/-/issues/7', 'is not a merge request'],
  ['https://gitlab.example.com/-/merge_requests/7', 'is not a merge request'],
])('%s is refused with the way to mend it', (url, message) => {
  expect(() => parseMergeRequestUrl(url, 'https://gitlab.example.com')).toThrow(message);
});
