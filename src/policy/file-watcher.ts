/**
 * Changes of the configuration while the daemon runs. What is simply looked up counts at once; for the rest,
 * the log says what counts only after a restart: connections, accounts and the like are made once.
 */
import { statSync } from 'node:fs';
import type { Clock } from '../clock.ts';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import type { Settings } from '../settings/settings.ts';

export interface ConfigWatch {
  /** The files that the settings come from. */
  files: readonly string[];
  /** Reads them again. */
  read: () => Settings;
}

const CHECK_INTERVAL_MS = 1_000;

/**
 * Keys of the file by what they became in the settings; those that can be changed while at work come first.
 */
const live = { notifications: 'notifications', calendars: 'calendars', retention: 'retention' } as const;
const fixed = {
  accounts: 'accounts',
  redis: 'redis',
  policiesDir: 'policies',
  dataDir: 'data_dir',
  daemon: 'daemon',
  dashboard: 'dashboard',
} as const;

/** What is different between two readings, by the keys of the file. */
export function configChanges(before: Settings, after: Settings): { live: string[]; fixed: string[] } {
  const differ = (names: Partial<Record<keyof Settings, string>>) =>
    Object.entries(names)
      .filter(([key]) => !same(before[key as keyof Settings], after[key as keyof Settings]))
      .map(([, name]) => name);
  return { live: differ(live), fixed: differ(fixed) };
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/**
 * Looks at the files once a second; `take` is given what counts at once. Gives back what ends the looking.
 */
export function watchConfig(
  { files, read }: ConfigWatch,
  parts: { started: Settings; take: (settings: Settings) => void; clock: Clock; log: Log },
): () => Promise<void> {
  const { started, take, clock, log } = parts;
  const closing = new AbortController();
  let seen = looksOf(files);
  let last = started;

  const look = () => {
    let now: Settings;
    try {
      now = read();
    } catch (error) {
      const why = messageOf(error).replace(/\.$/, '');
      return log.error(
        `the configuration changed and cannot be used: ${why}; the daemon keeps the previous configuration`,
      );
    }
    const changes = configChanges(last, now);
    const waiting = configChanges(started, now).fixed;
    last = now;
    take(now);
    if (changes.live.length > 0)
      log.info(
        `the configuration changed: ${list(changes.live)} ${changes.live.length === 1 ? 'counts' : 'count'} from now on`,
      );
    if (waiting.length > 0) {
      const verb = waiting.length === 1 ? 'counts' : 'count';
      return log.warn(
        `the configuration changed: ${list(waiting)} ${verb} only after a restart of the daemon`,
      );
    }
    if (changes.fixed.length > 0)
      return log.info('the configuration changed: it is again as the daemon was started');
    if (changes.live.length === 0) log.info('the configuration changed, but nothing that counts');
  };

  const looking = (async () => {
    while (!closing.signal.aborted) {
      await clock.sleep(CHECK_INTERVAL_MS, closing.signal);
      const looks = looksOf(files);
      if (closing.signal.aborted || looks === seen) continue;
      seen = looks;
      look();
    }
  })();
  return async () => {
    closing.abort();
    await looking;
  };
}

/** `accounts, redis and daemon`, each as it stands in the file. */
const list = (keys: readonly string[]): string =>
  keys.length < 2 ? keys.join('') : `${keys.slice(0, -1).join(', ')} and ${keys.at(-1)}`;

const looksOf = (files: readonly string[]): string =>
  files
    .map((file) => {
      const stats = statSync(file, { throwIfNoEntry: false });
      return `${stats?.mtimeMs} ${stats?.ctimeMs} ${stats?.size} ${stats?.ino}`;
    })
    .join('\n');
