// What a reader's browser gets of a note. In GitLab's order: Markdown becomes HTML, dangerous parts are taken out, and
// in the text that is left addresses and references become links.
import { lexer, parse, walkTokens } from 'marked';

export interface Rendering {
  /** Where a click leads, absolute. */
  links: string[];
  /** What is loaded as soon as the note is seen. */
  images: string[];
  /** Blocks of code that are not shown, but drawn, calculated or offered as a change. */
  drawings: string[];
  /** Things of GitLab that the text becomes a link to. */
  references: string[];
  /** Names of tags that the author wrote. */
  rawTags: string[];
  /** Files that are to be put in the place of a line. */
  includes: string[];
  /** Characters that change what is read and are not seen. */
  hidden: string[];
}

export function renderNote(body: string, gitlabUrl: string): Rendering {
  const nodes = toNodes(parse(body, { gfm: true, async: false }));
  const texts = nodes.flatMap((node) => (node.kind === 'text' && !node.isInert ? [node.text] : []));
  return {
    links: [
      ...nodes.flatMap((node) => (node.kind === 'link' ? toTarget(node.href, gitlabUrl) : [])),
      ...texts.flatMap((text) => (text.match(ADDRESS) ?? []).map(withoutPunctuation)),
    ],
    images: nodes.flatMap((node) => (node.kind === 'image' ? [node.src] : [])),
    drawings: nodes.flatMap((node) =>
      node.kind === 'code' && DRAWN.test(node.language) ? [node.language] : [],
    ),
    references: texts.flatMap((text) => text.match(REFERENCE) ?? []),
    rawTags: findRawTags(body),
    includes: body.match(/^::include\{file=[^}]*\}/gm) ?? [],
    hidden: body.match(HIDDEN) ?? [],
  };
}

/** Lower or upper case: the parser of Markdown knows no difference, the filter behind it once did. */
const ADDRESS = /[a-z][a-z0-9+.-]+:\/\/[^\s>]+(?<![,.])/gi;
/** The sentence's, not the address's. */
function withoutPunctuation(address: string): string {
  const [open, close] = [/[([{]/g, /[)\]}]/g].map((pattern) => address.match(pattern)?.length ?? 0);
  return /['"]$/.test(address) || (/[)\]}]$/.test(address) && open !== close)
    ? address.slice(0, -1)
    : address;
}

const REFERENCE = new RegExp(
  [
    String.raw`(?<!\w)[\w./-]*#\d+`,
    String.raw`(?<!\w)GL-\d+`,
    String.raw`(?<!\w)[\w./-]*!\d+`,
    String.raw`(?<!\w)[\w./-]*&\d+`,
    String.raw`(?<!\w)[\w./-]*\$\d+`,
    String.raw`(?<!\w)[\w./-]*~(?:\d+|[a-z_][\w.-]*|"[^"]+")`,
    String.raw`(?<!\w)[\w./-]*%(?:\d+|[a-z_][\w.-]*|"[^"]+"|\{\w+\})`,
    String.raw`(?<!\w)\*iteration:(?:\d+|"[^"]+"|\w+)`,
    String.raw`\[(?:vulnerability|feature_flag|epic|issue|work_item|cadence|contact|wiki_page):[^\]]+\]`,
    String.raw`\[\[_?TOC_?\]\]|^\[TOC\]$`,
  ].join('|'),
  'gi',
);
const DRAWN =
  /^(?:mermaid|plantuml|kroki|math|suggestion|glql|geojson|topojson|stl|json:table|graphviz|dot|d2|ditaa|nomnoml|svgbob|vega|vegalite|wavedrom|bpmn|excalidraw|erd|pikchr)/i;
/** Directions, tags and joiners that hide text; a blank without width only keeps signs apart. */
const HIDDEN = /[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\u2060-\u2064\ufeff\u{e0000}-\u{e01ef}\u00ad]/gu;

type Node =
  | { kind: 'text'; text: string; isInert: boolean }
  | { kind: 'link'; href: string }
  | { kind: 'image'; src: string }
  | { kind: 'code'; language: string };

/** In these neither addresses nor references are looked for. */
const INERT = new Set(['a', 'code', 'kbd', 'pre', 'script', 'style']);

function toNodes(html: string): Node[] {
  const nodes: Node[] = [];
  const open: string[] = [];
  for (const [, comment, closing, name = '', attributes = '', text] of html.matchAll(HTML)) {
    if (comment !== undefined) continue;
    if (text !== undefined) {
      nodes.push({ kind: 'text', text: decode(text), isInert: open.some((one) => INERT.has(one)) });
      continue;
    }
    const tag = name.toLowerCase();
    if (closing === '/') {
      const at = open.lastIndexOf(tag);
      if (at !== -1) open.length = at;
      continue;
    }
    if (tag === 'a' && attributeOf(attributes, 'href'))
      nodes.push({ kind: 'link', href: attributeOf(attributes, 'href') });
    if (['img', 'video', 'audio', 'source'].includes(tag))
      nodes.push({ kind: 'image', src: attributeOf(attributes, 'src') });
    if (tag === 'code' && open.at(-1) === 'pre')
      nodes.push({ kind: 'code', language: attributeOf(attributes, 'class').replace('language-', '') });
    if (!VOID.has(tag)) open.push(tag);
  }
  return nodes;
}

const HTML = /<!--([\s\S]*?)-->|<(\/?)([a-z][\w-]*)((?:"[^"]*"|'[^']*'|[^>"'])*)>|([^<]+|<)/gi;
const VOID = new Set(['br', 'hr', 'img', 'input', 'source', 'link', 'meta', 'col']);

function attributeOf(attributes: string, name: string): string {
  const [, double, single, bare] =
    new RegExp(`(?:^|[\\s/])${name}\\s*=\\s*(?:"([^"]*)"|'([^']*)'|([^\\s>]+))`, 'i').exec(attributes) ?? [];
  return decode(double ?? single ?? bare ?? '');
}

function decode(text: string): string {
  return text.replaceAll(
    /&(?:#(\d+)|#x([\da-f]+)|(lt|gt|amp|quot|apos|commat|num|colon|sol|period));/gi,
    (all, dec, hex, name) => {
      if (name !== undefined) return NAMED[name.toLowerCase()] ?? all;
      const code = Number.parseInt(dec ?? hex, dec === undefined ? 16 : 10);
      return code <= 0x10ffff ? String.fromCodePoint(code) : all;
    },
  );
}

const NAMED: Readonly<Record<string, string>> = {
  ...{ lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" },
  ...{ commat: '@', num: '#', colon: ':', sol: '/', period: '.' },
};

/** What browsers would follow; GitLab takes scripts out. */
function toTarget(href: string, gitlabUrl: string): string[] {
  const target = URL.parse(href.trim(), `${gitlabUrl}/`);
  return target && !/^(?:javascript|data|vbscript):/i.test(target.protocol) ? [target.href] : [];
}

function findRawTags(body: string): string[] {
  const tags: string[] = [];
  walkTokens(lexer(body, { gfm: true }), (token) => {
    if (token.type === 'html')
      tags.push(...[...token.raw.matchAll(/<([a-z][\w-]*)/gi)].map(([, name = '']) => name.toLowerCase()));
  });
  return tags;
}
