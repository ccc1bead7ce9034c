// The jobs that nobody will read: two that pass and the spelling, which may fail.
import { green, red, yellow } from './colours.ts';
import type { JobLog } from './log-writer.ts';
import { installPackages } from './npm-noise.ts';
import { type FrameOptions, writeJobLog } from './runner-frame.ts';

type Frame = Pick<FrameOptions, 'startedAt' | 'sha'>;

export function writeLint(frame: Frame): JobLog<'outcome'> {
  const options = {
    ...frame,
    seed: 11,
    image: NODE,
    script: 'npm ci && npm run lint',
    outcome: 'passed',
  } as const;
  return writeJobLog(options, (log) => {
    installPackages(log);
    for (let file = 1; file <= 40; file++) {
      log.line(`${yellow('warning')} src/ledger/part-${file}.ts: no-restricted-syntax: name the error class`);
    }
    log.line(green('Checked 812 files: 0 errors, 40 warnings'));
    return {};
  });
}

export function writeCompile(frame: Frame): JobLog<'outcome'> {
  const options = {
    ...frame,
    seed: 12,
    image: NODE,
    script: 'npm ci && npm run build',
    outcome: 'passed',
  } as const;
  return writeJobLog(options, (log) => {
    installPackages(log);
    for (let part = 1; part <= 120; part++) {
      log.line(
        `dist/part-${part}.js  ${log.random.int(2, 80)}.${log.random.int(10, 99)} kB │ map: ${log.random.int(4, 160)} kB`,
      );
    }
    log.line(green('✓ built in 7.41s, found 0 errors'));
    return {};
  });
}

export function writeFailedSpelling(frame: Frame): JobLog<'misspelling' | 'outcome'> {
  const options = {
    ...frame,
    seed: 13,
    image: NODE,
    script: 'npx cspell "docs/**/*.md"',
    outcome: 'failed',
  } as const;
  return writeJobLog(options, (log) => {
    for (let page = 1; page <= 60; page++) {
      log.line(`${page}/91 docs/page-${page}.md ${log.random.int(4, 90)}.${log.random.int(10, 99)}ms`);
    }
    const misspelling = log.line(`docs/vouchers.md:14:22 - Unknown word (${red('reedem')}) fix: (redeem)`);
    for (let page = 61; page <= 91; page++)
      log.line(`${page}/91 docs/page-${page}.md ${log.random.int(4, 90)}ms`);
    log.line('CSpell: Files checked: 91, Issues found: 1 in 1 file.');
    return { misspelling };
  });
}

const NODE = 'node:24-bookworm';
