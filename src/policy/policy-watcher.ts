/**
 * Watches the policy files of a daemon and keeps the active version of each policy: files are read again when
 * they change, without a restart. While a file has errors, the last valid version of its policies stays
 * active, and the file is reported.
 */
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type Clock, isoMinute } from '../clock.ts';
import type { Registry } from '../job/registry.ts';
import type { Log } from '../log.ts';
import type { KeptPolicy } from '../records/presence-store.ts';
import type { Settings } from '../settings/settings.ts';
import { deepFreeze } from '../settings/settings.ts';
import { type Diagnostic, placeOf, shortFile } from '../yaml/diagnostic.ts';
import { watchFolders } from './folder-watch.ts';
import { isPolicyFile, type Loaded, loadPolicies } from './load-policies.ts';
import type { Policy } from './policy.ts';
import { changesBetween, formatNames } from './policy-changes.ts';

export interface PolicyWatcher {
  /** The active policies. */
  policies(): readonly Policy[];
  /** The errors in the present files. */
  findings(): readonly Diagnostic[];
  /** Policies that are active although their file has errors. */
  kept(): readonly KeptPolicy[];
  /** When an active policy was changed: by the time of its file, or when this process noticed the change. */
  changedAt(policy: string): number;
  /** Since when a file has had errors, in milliseconds since 1970. */
  brokenSince(file: string): number;
  /** Soon looks whether something changed, as after a change of the settings. */
  look(): void;
  /** Stops watching. */
  close(): Promise<void>;
}

export interface PolicyWatcherOptions {
  /** The present settings, read at every check: calendars and names under `notifications` may change. */
  settings: () => Settings;
  registry: Registry;
  clock: Clock;
  log: Log;
  /** Called after policies were read again, with the active ones before and now. */
  onChange?: (before: readonly Policy[], now: readonly Policy[]) => void;
}

/** Files that change at every check are read after so many checks. */
const MAX_UNSETTLED = 5;

/** Reads the policies, and reads changed files when they stop changing. */
export function watchPolicies(parts: PolicyWatcherOptions): PolicyWatcher {
  const { settings, registry, clock, log } = parts;
  const dir = settings().policiesDir;
  const closing = new AbortController();
  const folder = watchFolders([dir], clock);
  let seen = fingerprintOf(dir, settings());
  let state = readAll({ dir, registry, settings: settings() }, nothing, seen, clock.now());
  logChanges(state, nothing, log);

  const watching = (async () => {
    let unsettled: Fingerprint | undefined;
    let times = 0;
    while (!closing.signal.aborted) {
      await folder.next();
      const now = fingerprintOf(dir, settings());
      if (closing.signal.aborted || now.text === seen.text) continue;
      times += 1;
      if (now.text !== unsettled?.text && times < MAX_UNSETTLED) {
        unsettled = now;
        folder.wake();
        continue;
      }
      const before = state;
      state = readAll({ dir, registry, settings: settings() }, before, now, clock.now());
      logChanges(state, before, log);
      parts.onChange?.(before.policies, state.policies);
      [seen, unsettled, times] = [now, undefined, 0];
    }
  })();
  return {
    policies: () => state.policies,
    findings: () => state.findings,
    kept: () => state.kept,
    changedAt: (policy) => state.changedAt.get(policy) ?? clock.now(),
    brokenSince: (file) => state.brokenSince.get(file) ?? clock.now(),
    look: folder.wake,
    async close() {
      closing.abort();
      folder.close();
      await watching;
    },
  };
}

interface Fingerprint {
  /** Differs when somebody edited, added, renamed or removed a file. */
  text: string;
  /** The inode of each file, which identifies a renamed file. */
  inodes: Map<string, number>;
  /** When each file was written last. */
  writtenAt: Map<string, number>;
}

function fingerprintOf(dir: string, { notifications, calendars }: Settings): Fingerprint {
  const lines: string[] = [];
  const inodes = new Map<string, number>();
  const writtenAt = new Map<string, number>();
  try {
    for (const name of readdirSync(dir).filter(isPolicyFile).sort()) {
      const file = join(dir, name);
      const stats = statSync(file, { throwIfNoEntry: false });
      lines.push(`${name} ${stats?.mtimeMs} ${stats?.ctimeMs} ${stats?.size} ${stats?.ino}`);
      if (stats) inodes.set(file, stats.ino);
      if (stats) writtenAt.set(file, Math.floor(stats.mtimeMs));
    }
  } catch (error) {
    lines.push(`unreadable ${(error as { code?: string }).code ?? ''}`);
  }
  // A policy is only valid if the names in it exist.
  const named = JSON.stringify([Object.keys(notifications), calendars]);
  return { text: [...lines, named].join('\n'), inodes, writtenAt };
}

interface ReadState {
  policies: readonly Policy[];
  findings: readonly Diagnostic[];
  kept: readonly KeptPolicy[];
  inodes: Map<string, number>;
  /** When the active version of a policy was first read. */
  readAt: Map<string, number>;
  /** When the active version of a policy was changed. */
  changedAt: Map<string, number>;
  /** Since when a file has had errors. */
  brokenSince: Map<string, number>;
}

const nothing: ReadState = {
  policies: [],
  findings: [],
  kept: [],
  inodes: new Map(),
  readAt: new Map(),
  changedAt: new Map(),
  brokenSince: new Map(),
};

function readAll(
  source: { dir: string; registry: Registry; settings: Settings },
  before: ReadState,
  { inodes, writtenAt }: Fingerprint,
  now: number,
): ReadState {
  const read = loadPolicies(source);
  const keptPolicies = keptOf(source.dir, before, read, inodes);
  const policies = [...read.policies, ...keptPolicies];
  const versions = new Map(before.policies.map(({ name, hash }) => [name, hash]));
  const readAt = new Map(
    policies.map(({ name, hash }) => [name, (versions.get(name) === hash && before.readAt.get(name)) || now]),
  );
  // A change that this process notices counts from now, whatever the modification time of the file.
  const changedAt = new Map(
    policies.map(({ name, hash, file }) => {
      const known = versions.get(name) === hash ? before.changedAt.get(name) : undefined;
      return [name, known ?? (before === nothing ? Math.min(writtenAt.get(file) ?? now, now) : now)] as const;
    }),
  );
  const brokenSince = new Map(
    read.findings.map(({ file }) => [file, before.brokenSince.get(file) ?? now] as const),
  );
  const kept = keptPolicies.map((policy): KeptPolicy => {
    const place = read.broken.find(({ name }) => name === policy.name)?.file ?? policy.file;
    const first = read.findings.find(({ file }) => file === place) ?? read.findings[0];
    return {
      name: policy.name,
      policy,
      file: first?.file ?? policy.file,
      readAt: readAt.get(policy.name) ?? now,
      brokenSince: brokenSince.get(first?.file ?? '') ?? now,
      error: first ? `${first.line}:${first.column}: ${first.message}` : '',
    };
  });
  return { policies, findings: read.findings, kept, inodes, readAt, changedAt, brokenSince };
}

/**
 * The policies that stay active although they could not be read now: those of a file with errors, also when
 * it was renamed, and those with errors of their own. All of them while the folder cannot be read.
 */
function keptOf(
  dir: string,
  before: ReadState,
  read: Loaded,
  inodes: Map<string, number>,
): readonly Policy[] {
  const broken = new Set(
    read.findings.filter((one) => !read.linkFindings.includes(one)).map(({ file }) => file),
  );
  const names = new Set(read.policies.map(({ name }) => name));
  const fileNow = (file: string): string => {
    if (inodes.has(file)) return file;
    const inode = before.inodes.get(file);
    return [...inodes].find(([, one]) => one === inode)?.[0] ?? file;
  };
  return before.policies.flatMap((policy) => {
    const file = fileNow(policy.file);
    if (names.has(policy.name)) return [];
    if (!broken.has(dir) && !broken.has(file) && !read.broken.some(({ name }) => name === policy.name))
      return [];
    return file === policy.file ? [policy] : [deepFreeze({ ...policy, file })];
  });
}

/** Logs what changed, and each file that has errors now or has none any more. */
function logChanges(now: ReadState, before: ReadState, log: Log): void {
  const reported = brokenFiles(before);
  for (const [file, sentence] of brokenFiles(now)) {
    if (reported.get(file) !== sentence) log.error({ file }, sentence);
  }
  for (const file of reported.keys()) {
    if (!now.brokenSince.has(file) && existsSync(file))
      log.info({ file }, `${shortFile(file)} has no errors now`);
  }
  const facts = { policies: now.policies.length, errors: now.findings.length };
  log.info(
    facts,
    before === nothing
      ? `policies loaded: ${now.policies.length} active`
      : `policies read again: ${formatNames(changesBetween(before.policies, now.policies))}`,
  );
}

/** A sentence about each file with errors. */
function brokenFiles({ findings, kept }: ReadState): Map<string, string> {
  return new Map(
    [...new Set(findings.map(({ file }) => file))].map((file) => {
      const [first, ...others] = findings.filter((finding) => finding.file === file);
      const error = first ? `${placeOf(first)}: ${first.message.replace(/\.$/, '')}` : '';
      const more = others.length > 0 ? ` (and ${others.length} more)` : '';
      const mine = kept.filter((one) => one.file === file);
      const versions = mine.map(({ name, readAt }) => `${name} (read at ${isoMinute(readAt)})`).join(', ');
      const rest =
        mine.length > 0 ? `the previous version stays active: ${versions}` : 'no previous version was active';
      return [file, `${error}${more}; ${rest}`];
    }),
  );
}
