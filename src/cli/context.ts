/** What every command starts with: the settings, the policies, and connections that are closed afterwards. */
import { existsSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Caretaker } from '../app/caretaker.ts';
import type { OpenRecords } from '../app/open-records.ts';
import { isoClock, systemClock } from '../clock.ts';
import type { AccountLink } from '../engine/deps.ts';
import type { CaretakerError } from '../errors.ts';
import type { Log, LogOptions } from '../log.ts';
import type { Loaded } from '../policy/load-policies.ts';
import type { Policy } from '../policy/policy.ts';
import { loadSettings } from '../settings/load-settings.ts';
import type { Settings } from '../settings/settings.ts';
import { suggestionFor } from '../suggest.ts';
import { countOf } from '../text.ts';
import {
  type Diagnostic,
  InvalidFilesError,
  renderFinding,
  renderFindings,
  shortFile,
} from '../yaml/diagnostic.ts';
import { UsageError } from './exit.ts';
import type { Io } from './io.ts';
import type { Format } from './output/show.ts';
import type { Terminal } from './output/terminal.ts';

/** The options that every command takes. */
export interface GlobalOptions {
  config?: string;
  verbose?: boolean;
  /** The address of a server; the command then works there: see `client.ts`. */
  server?: string;
  /** The format of data; `--json` chooses `json`. */
  output?: Format | undefined;
}

/** `--reason`, which the audit log shows. */
export interface ReasonOption {
  reason?: string;
}

/** The settings, for a command that shows their warnings itself. */
export const readSettings = ({ io }: Pick<Terminal, 'io'>, { config }: GlobalOptions): Settings =>
  loadSettings({ configPath: config, cwd: process.cwd(), env: io.env });

/** Those of each command line: several parts of it need them. */
const read = new WeakMap<Io, { config: string | undefined; settings: Settings }>();

/** The settings, as they were when the command began. Warns when others can read the file with the token. */
export function settingsOf(
  { io, ...terminal }: Pick<Terminal, 'io'> & Partial<Terminal>,
  options: GlobalOptions,
): Settings {
  const known = read.get(io);
  if (known && known.config === options.config) return known.settings;
  const settings = readSettings({ io }, options);
  read.set(io, { config: options.config, settings });
  for (const one of settings.warnings)
    if (basename(one.file) === '.env') terminal.message?.(`warning: ${renderFinding(one, { color: false })}`);
  return settings;
}

/**
 * The log of a command. It has errors only, unless `--verbose` is given: the command prints the rest itself.
 */
export async function commandLog({ io }: Pick<Terminal, 'io'>, { verbose }: GlobalOptions): Promise<Log> {
  return logTo(io, verbose ? 'info' : 'error');
}

/** A log on standard error, in the form for a person if that is a terminal. */
export async function logTo({ stderr }: Io, level: LogOptions['level']): Promise<Log> {
  const { openLog } = await import('../log.ts');
  return openLog({ level, form: stderr.isTTY ? 'pretty' : 'json', to: stderr.fd ?? stderr });
}

export async function policiesOf(settings: Settings): Promise<Loaded> {
  const [{ loadPolicies }, { loadJobs }] = await Promise.all([
    import('../policy/load-policies.ts'),
    import('../app/load-jobs.ts'),
  ]);
  return loadPolicies({ dir: settings.policiesDir, registry: await loadJobs(), settings });
}

/**
 * Returns the policy called `name`. Of errors in other policies, only the number is printed.
 *
 * @throws {InvalidFilesError} when there is no such policy and errors in the files may be the cause.
 * @throws {UsageError} when there is no such policy.
 */
export async function policyNamed(name: string, settings: Settings, terminal: Terminal): Promise<Policy> {
  const loaded = await policiesOf(settings);
  const policy = loaded.policies.find((one) => one.name === name);
  if (!policy) throw noSuchPolicy(name, settings, loaded);
  const errors = loaded.findings.length;
  if (errors > 0) {
    terminal.message(
      `${countOf(errors, 'error')} in other policies: "caretaker validate" shows ${errors === 1 ? 'it' : 'them'}.`,
    );
  }
  printWarnings(
    loaded.warnings.filter(({ policies }) => policies.includes(name)),
    terminal,
  );
  return policy;
}

/** A part of a file may be a valid policy: without the line that protects something, for example. */
const QUIET_MS = 2_000;

/**
 * `policyNamed`, to start it. A policy that deletes or mails is read when its file has been unchanged for two seconds, as
 * a daemon reads it: it may still be being written.
 */
export async function policyToStart(name: string, settings: Settings, terminal: Terminal): Promise<Policy> {
  const [{ isGrave }, { loadJobs }, { jobOf }] = await Promise.all([
    import('../engine/plan/selection.ts'),
    import('../app/load-jobs.ts'),
    import('../policy/policy-job.ts'),
  ]);
  for (let seen: number | undefined; ; ) {
    const policy = await policyNamed(name, settings, terminal);
    const job = jobOf(await loadJobs(), policy);
    const changedAt = statSync(policy.file, { throwIfNoEntry: false })?.mtimeMs;
    // The clock of a shared folder may be ahead of this one: then it counts that nothing has changed meanwhile.
    const isQuiet = changedAt === seen || Date.now() - (changedAt ?? 0) >= QUIET_MS;
    if (!job || !isGrave(job, policy) || isQuiet) return policy;
    if (seen === undefined)
      terminal.message(
        `${shortFile(policy.file)} was changed just now: ${name} starts when it has been unchanged for 2 seconds.`,
      );
    seen = changedAt;
    await systemClock.sleep(QUIET_MS);
  }
}

/** Why there is no such policy: its file has errors, or the name is unknown. */
export function noSuchPolicy(
  name: string,
  settings: Settings,
  { policies, findings }: Loaded,
): CaretakerError {
  const names = policies.map((one) => one.name);
  const hint = suggestionFor(name, names);
  // A name that is nearly right is a typing error; otherwise errors in a file may be the cause.
  if (findings.length > 0 && !hint?.startsWith('did you mean')) return new InvalidFilesError(findings);
  return new UsageError(`There is no policy "${name}" in ${settings.policiesDir}${hint ? `: ${hint}` : '.'}`);
}

/** Whether records can exist: an embedded Redis that was never started has none. */
export const hasRecords = ({ redis, dataDir }: Settings): boolean =>
  redis.kind !== 'embedded' || existsSync(join(dataDir, 'redis'));

/** Says until when a request of the command waits: it would look as if it hung. */
export const sayWait =
  ({ message }: Pick<Terminal, 'message'>) =>
  (account: string, until: number) =>
    message(
      `The requests of the account "${account}" are used up; waiting until ${isoClock(until)}. Ctrl-C ends the command.`,
    );

/** Opens a Caretaker, and closes it when `use` has ended. */
export async function withCaretaker<T>(
  terminal: Pick<Terminal, 'io' | 'message'>,
  options: GlobalOptions,
  settings: Settings,
  use: (caretaker: Caretaker) => Promise<T>,
): Promise<T> {
  const { openCaretaker } = await import('../app/caretaker.ts');
  const { clock } = terminal.io;
  const log = await commandLog(terminal, options);
  const caretaker = await openCaretaker({ settings, log, clock, onWait: sayWait(terminal) });
  try {
    return await use(caretaker);
  } finally {
    await caretaker.close();
  }
}

/**
 * Opens only the records, and closes them when `use` has ended. For commands that neither send requests nor
 * use a queue.
 */
export async function withRecords<T>(
  terminal: Pick<Terminal, 'io'>,
  options: GlobalOptions,
  settings: Settings,
  use: (opened: OpenRecords) => Promise<T>,
): Promise<T> {
  const { connectRecords } = await import('../app/open-records.ts');
  const opened = await connectRecords(settings, await commandLog(terminal, options), terminal.io.clock);
  try {
    return await use(opened);
  } finally {
    await opened.close();
  }
}

/** Opens the records and the link to one account, and closes them when `use` has ended. */
export async function withAccount<T>(
  name: string,
  terminal: Pick<Terminal, 'io' | 'message'>,
  options: GlobalOptions,
  settings: Settings,
  use: (link: AccountLink) => Promise<T>,
): Promise<T> {
  const { openAccountLinks } = await import('../app/account-links.ts');
  return withRecords(terminal, options, settings, async (opened) => {
    const links = openAccountLinks(settings, opened, sayWait(terminal));
    try {
      return await use(links.link(name));
    } finally {
      await links.close();
    }
  });
}

export function printFindings(findings: readonly Diagnostic[], terminal: Terminal): void {
  if (findings.length > 0)
    terminal.message(renderFindings(findings, { color: terminal.paint, columns: terminal.messageColumns }));
}

/** Prints warnings: what is valid in a policy but probably not intended. */
export function printWarnings(warnings: readonly Diagnostic[], terminal: Terminal): void {
  const warning = terminal.paint('yellow', 'warning');
  for (const [at, one] of warnings.entries())
    terminal.message(
      `${at > 0 ? '\n' : ''}${warning}: ${renderFinding(one, { color: terminal.paint, columns: terminal.messageColumns })}`,
    );
}

/** Prints which files of the policies folder are not read, in case one was intended as a policy. */
export function printIgnored(ignored: readonly string[], terminal: Terminal): void {
  if (ignored.length === 0) return;
  const named = ignored
    .slice(0, 5)
    .map((path) => shortFile(path) + (path.endsWith('/') ? '/' : ''))
    .join(', ');
  const more = ignored.length > 5 ? ` and ${ignored.length - 5} more` : '';
  const verb = ignored.length === 1 ? 'is' : 'are';
  terminal.message(
    `${terminal.paint('yellow', 'warning')}: ${named}${more} ${verb} not read: policies are the *.yaml and *.yml files directly in the policies folder.`,
  );
}
