// Links to jobs and their lines, however they are written.

export interface JobLink {
  /** Line of the text, from 0, and the place of the address in it. */
  at: number;
  column: number;
  url: string;
  /** `group/app`, with the folder of GitLab itself if it has one. */
  projectPath: string;
  jobId: number;
  /** The line of the log that is meant, and the last one of several. */
  line: number | null;
  lastLine: number | null;
}

const SIGN = '[^\\s()<>"\'`|\\\\[\\]]';
const ADDRESS = new RegExp(`https?://${SIGN}+`, 'gi');
const JOB_URL =
  /https?:\/\/([^\s()<>"'`|\\[\]/]+)\/((?:[^\s()<>"'`|\\[\]/?#]+\/)*?)-\/jobs\/(\d+)(?![a-z\d-])(?:(?:[/?][^\s()<>"'`|\\[\]#]*)?#L(\d+)(?:-L?(\d+))?(?![a-z\d]))?/gi;

export function findLinks(line: string, at: number): JobLink[] {
  return [...line.matchAll(ADDRESS)].flatMap(({ 0: address, index }) => {
    const written = findJobs(address);
    const meant = findJobs(toPlain(address));
    const isPlain = written.map(toKey).join() === meant.map(toKey).join();
    // Of one that is written in another way, all is the link.
    const links = isPlain ? written : meant.map((link) => ({ ...link, url: address, column: 0 }));
    return links.map((link) => ({ ...link, at, column: index + link.column }));
  });
}

function findJobs(address: string): Omit<JobLink, 'at'>[] {
  return [...address.matchAll(JOB_URL)].map((match) => {
    const [url, , path = '', jobId, first, last] = match;
    return {
      column: match.index,
      url,
      projectPath: path.replace(/\/$/, ''),
      jobId: Number(jobId),
      line: first === undefined ? null : Number(first),
      lastLine: last === undefined ? null : Number(last),
    };
  });
}

function toKey({ projectPath, jobId }: Omit<JobLink, 'at'>): string {
  return `${projectPath} ${jobId}`;
}

/** Where it leads: a browser goes up for each `..`, GitLab takes several slashes for one. */
function toPlain(address: string): string {
  const url = URL.parse(address);
  if (!url) return address;
  const path = url.pathname
    .replaceAll(/%([2-7][\da-f])/gi, (_all, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
    .replaceAll(/\/{2,}/g, '/');
  return `${url.origin}${path}${url.search}${url.hash}`;
}
