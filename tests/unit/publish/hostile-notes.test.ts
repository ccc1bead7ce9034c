// The corpus, posted as it is and as we post it. The pretend GitLab, which acts as GitLab does, is the judge.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Harm, HOSTILE_NOTES } from '../../fixtures/hostile-notes.ts';
import { createScene, type Scene } from './scene.ts';

let scene: Scene;
beforeAll(async () => {
  scene = await createScene();
});
afterAll(() => scene[Symbol.asyncDispose]());

const cases = Object.entries(HOSTILE_NOTES).flatMap(([harm, texts]) =>
  texts.map((text) => [harm as Harm, text] as const),
);
const PLAIN_TAGS = ['details', 'summary', 'sub', 'br'];

test('there are many of them', () => {
  expect(cases.length).toBeGreaterThan(100);
});

describe.each(cases)('a note that %s: %j', (harm, text) => {
  // The corpus can not know where the pretend GitLab will be.
  const note = () => text.replaceAll('https://gitlab.test', scene.gitlab.url);

  test('does so as it is', () => {
    const harms = watchHarms();
    // A word in front, because a note of only quick actions can not be arranged.
    const { id } = scene.gitlab.addNote({ ...newMr(), userId: scene.agent.id, body: `Note\n\n${note()}` });
    expect(harms(id)).toContain(harm);
  });

  test('does no harm when we post it', async () => {
    const harms = watchHarms();
    const mr = newMr();
    const posted = await scene.createNotes().ensureAnalysis({ ...scene.analysis(note()), mr });
    expect(harms(posted.noteId)).toEqual([]);
  });
});

function newMr() {
  count += 1;
  return { projectId: scene.project.id, iid: scene.addMr(`branch-${count}`).iid };
}
let count = 0;

/** What comes of what is posted from now on. */
function watchHarms(): (noteId: number) => Harm[] {
  const { gitlab } = scene;
  const lists = {
    'runs a quick action': gitlab.executedQuickActions,
    'notifies somebody': gitlab.mentions,
    'closes an issue': gitlab.closingReferences,
  };
  const before = Object.values(lists).map(({ length }) => length);
  return (noteId) => {
    const { links, images, drawings, references, rawTags, includes, hidden } = gitlab.rendering(noteId);
    const seen: Record<Harm, boolean> = {
      'runs a quick action': lists['runs a quick action'].length > (before[0] ?? 0),
      'notifies somebody': lists['notifies somebody'].length > (before[1] ?? 0),
      'closes an issue': lists['closes an issue'].length > (before[2] ?? 0),
      'links elsewhere': !links.every(isAllowed),
      'loads an image': images.length > 0,
      'is drawn or applied': drawings.length > 0,
      'refers to something': references.length > 0,
      'has raw HTML': !rawTags.every((tag) => PLAIN_TAGS.includes(tag)),
      'includes a file': includes.length > 0,
      'hides something': hidden.length > 0,
    };
    return (Object.keys(seen) as Harm[]).filter((harm) => seen[harm]);
  };
}

/** As a browser reads it. */
function isAllowed(link: string): boolean {
  const url = URL.parse(link);
  return (
    url !== null &&
    /^https?:$/.test(url.protocol) &&
    scene.linkHosts.includes(url.host) &&
    url.username === ''
  );
}
