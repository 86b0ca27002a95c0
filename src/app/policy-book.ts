/**
 * The policies in force, as the daemon knows them: read again when their files change, without a restart. A file that
 * is broken keeps the last good version of its policies in force, and is shown as broken until it is mended.
 */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../clock.ts';
import type { Registry } from '../job/registry.ts';
import type { Log } from '../log.ts';
import { loadPolicies } from '../policy/load-policies.ts';
import type { Policy } from '../policy/policy.ts';
import { type Finding, placeOf } from '../settings/finding.ts';
import type { Settings } from '../settings/settings.ts';

export interface PolicyBook {
  policies(): readonly Policy[];
  /** Mistakes in the files as they are now. */
  findings(): readonly Finding[];
  /** Looks at the files once more and reads them again when they changed; gives whether they did. */
  refresh(): boolean;
  /** Stops looking. */
  close(): Promise<void>;
}

const LOOK_MS = 1_000;

/** Reads the policies and keeps looking at their files, once a second. */
export function openPolicyBook(options: {
  settings: Settings;
  registry: Registry;
  clock: Clock;
  log: Log;
}): PolicyBook {
  const { settings, registry, clock, log } = options;
  const dir = settings.policiesDir;
  let seen = '';
  let policies: readonly Policy[] = [];
  let findings: readonly Finding[] = [];

  const refresh = (): boolean => {
    const looks = looksOf(dir);
    if (looks === seen) return false;
    seen = looks;
    const read = loadPolicies({ dir, registry, settings });
    policies = merged(policies, read.policies, read.findings);
    findings = read.findings;
    for (const finding of findings) {
      log.error(
        { file: finding.file },
        `${placeOf(finding)}: ${finding.message}; what was in force stays in force`,
      );
    }
    log.info({ policies: policies.length, mistakes: findings.length }, 'policies read');
    return true;
  };
  refresh();

  const closing = new AbortController();
  const looking = (async () => {
    while (!closing.signal.aborted) {
      await clock.sleep(LOOK_MS, closing.signal);
      if (!closing.signal.aborted) refresh();
    }
  })();
  return {
    policies: () => policies,
    findings: () => findings,
    refresh,
    async close() {
      closing.abort();
      await looking;
    },
  };
}

/** Names, sizes and times of change of all policy files: what differs when somebody edited one. */
function looksOf(dir: string): string {
  try {
    return readdirSync(dir)
      .filter((file) => /\.ya?ml$/.test(file))
      .sort()
      .map((file) => {
        const { mtimeMs, size, ino } = statSync(join(dir, file));
        return `${file} ${mtimeMs} ${size} ${ino}`;
      })
      .join('\n');
  } catch (error) {
    return `unreadable ${(error as { code?: string }).code ?? ''}`;
  }
}

/** What was just read, and of broken files what they held before, unless the name is taken by now. */
function merged(before: readonly Policy[], read: readonly Policy[], findings: readonly Finding[]): Policy[] {
  const broken = new Set(findings.map(({ file }) => file));
  const names = new Set(read.map(({ name }) => name));
  const kept = before.filter(({ file, name }) => broken.has(file) && !names.has(name));
  return [...read, ...kept];
}
