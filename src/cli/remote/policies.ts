/** The commands about policies, freezes and queues, on a server. */
import type { BegunFreeze, FreezeAnswer } from '../../control/commands/freeze.ts';
import type { PolicyDefinition } from '../../control/policy-definition.ts';
import type { Freeze } from '../../records/freeze-store.ts';
import type { PolicyReport } from '../../schedule/policy-report.ts';
import { suggestionFor } from '../../suggest.ts';
import {
  type FreezeOptions,
  needEnd,
  printFrozen,
  printUnfrozen,
  scopeOf,
  showFreezes,
} from '../commands/freeze.ts';
import { formatNoneResumed, formatResumed, isPattern, matches, printPaused } from '../commands/pause.ts';
import {
  type PolicyRow,
  printKept,
  showDefinition,
  showExpanded,
  showPolicies,
} from '../commands/policies.ts';
import type { ReasonOption } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { freezeIn, keptIn, pauseIn } from '../from-answers.ts';
import { clockOf } from '../io.ts';
import { formatPause, printFreezes } from '../output/pause.ts';
import type { OutputOption } from '../output/show.ts';
import type { Terminal } from '../output/terminal.ts';
import { endText, type UntilOptions } from '../parse-end-time.ts';
import { asUsage, foundOr404 } from './act-on-run.ts';
import type { Server } from './server.ts';

const readPolicies = async (server: Server): Promise<PolicyReport[]> =>
  (await server.get<{ policies: PolicyReport[] }>('/policies')).policies;

/**
 * The active policy with this name.
 *
 * @throws {UsageError} when there is none that the token may see.
 */
export async function policyNamed(server: Server, name: string): Promise<PolicyReport> {
  const found = await foundOr404(() => server.get<PolicyReport>(`/policies/${encodeURIComponent(name)}`));
  return found ?? noSuchPolicy(server, name, await readPolicies(server));
}

function noSuchPolicy(server: Server, name: string, policies: readonly PolicyReport[]): never {
  const hint = suggestionFor(
    name,
    policies.map((one) => one.name),
  );
  throw new UsageError(`There is no policy "${name}" on ${server.url}${hint ? `: ${hint}` : '.'}`);
}

/** Lists the active policies of the server. */
export async function listPolicies(
  terminal: Terminal,
  server: Server,
  _args: string[],
  options: OutputOption & { graph?: boolean },
): Promise<number> {
  const [reports, active] = await Promise.all([readPolicies(server), readFreezes(server)]);
  const rows = reports.map(rowOf);
  await showPolicies(rows, 'The server has no policies that you may see.', terminal, options);
  printFreezes(active, terminal);
  printKept(rows, terminal, onServer);
  return exit.ok;
}

/** A file of the server, which has no place relative to a folder of this machine. */
const onServer = (file: string): string => file;

function rowOf(report: PolicyReport): PolicyRow {
  const { name, job, cron, timezone, after, enabled, paused, last_run, next, kept } = report;
  const schedule = {
    cron,
    timezone: timezone ?? 'UTC',
    ...(after ? { after } : {}),
    ...(enabled ? {} : { disabled: true as const }),
  };
  return {
    policy: { name, job, ...(enabled === null ? {} : { schedule }) },
    pause: paused ? pauseIn(paused) : undefined,
    last: last_run ? { status: last_run.status, createdAt: Date.parse(last_run.created_at) } : undefined,
    nextAt: next === null ? undefined : Date.parse(next),
    kept: kept ? keptIn(name, kept) : undefined,
    report,
  };
}

/** Shows one policy of the server with all defaults, with its last and next runs. */
export async function showPolicy(
  terminal: Terminal,
  server: Server,
  [name = '']: string[],
  options: OutputOption & { expanded?: boolean },
): Promise<number> {
  await policyNamed(server, name);
  const definition = await server.get<PolicyDefinition>(pathOf(name, 'definition'));
  await (options.expanded
    ? showExpanded(definition.policy, terminal, options)
    : showDefinition(definition, terminal, options, onServer));
  return exit.ok;
}

interface Selector {
  job?: string;
  account?: string;
  all?: boolean;
}

/** The policies of the server that the words and options select. All words are checked before anything is changed. */
async function selected(
  server: Server,
  words: string[],
  { job, account, all }: Selector,
): Promise<PolicyReport[]> {
  if (words.length === 0 && !all && !job && !account)
    throw new UsageError(
      'Select policies by name, by a pattern such as "nightly-*", with --job or --account, or with --all.',
    );
  const reports = await readPolicies(server);
  const names = reports.map(({ name }) => name);
  for (const word of words)
    if (!isPattern(word) && !names.includes(word)) noSuchPolicy(server, word, reports);
  const chosen = reports.filter(
    (report) =>
      (words.length === 0 || words.some((word) => matches(report.name, word))) &&
      (job === undefined || report.job === job) &&
      (account === undefined || report.account === account),
  );
  if (chosen.length === 0) throw new UsageError('No policy matches. Nothing was changed.');
  return chosen;
}

export const pathOf = (name: string, act: string): string => `/policies/${encodeURIComponent(name)}/${act}`;

/** Pauses policies of the server. */
export async function pausePolicies(
  terminal: Terminal,
  server: Server,
  words: string[],
  options: ReasonOption & Selector & UntilOptions,
): Promise<number> {
  const until = endText(options, clockOf(terminal.io).now());
  for (const { name, paused, enabled } of await selected(server, words, options)) {
    const before = paused ? pauseIn(paused) : undefined;
    if (before && options.reason === undefined && until === undefined) {
      terminal.message(`${name} is already ${formatPause(before)}. Nothing was changed.`);
      continue;
    }
    const answer = await server.post<{ until: string | null }>(pathOf(name, 'pause'), {
      reason: options.reason,
      until,
    });
    const pause = answer.until === null ? {} : { until: Date.parse(answer.until) };
    printPaused(name, { pause, before, isDisabled: enabled === false }, terminal);
  }
  return exit.ok;
}

/** Resumes policies of the server. */
export async function resumePolicies(
  terminal: Terminal,
  server: Server,
  words: string[],
  options: ReasonOption & Selector,
): Promise<number> {
  const chosen = await selected(server, words, options);
  for (const { name, paused, enabled } of chosen) {
    await server.post(pathOf(name, 'resume'), { reason: options.reason });
    if (paused) terminal.message(formatResumed(name, pauseIn(paused), enabled === false));
    else if (words.includes(name)) terminal.message(`${name} was not paused.`);
  }
  if (!chosen.some(({ name, paused }) => paused || words.includes(name)))
    terminal.message(formatNoneResumed(chosen.length));
  return exit.ok;
}

export const readFreezes = async (server: Server): Promise<Freeze[]> =>
  (await server.get<{ freezes: FreezeAnswer[] }>('/freezes')).freezes.map(freezeIn);

/** Freezes everything on the server, or a part. */
export async function freeze(
  terminal: Terminal,
  server: Server,
  _args: string[],
  options: FreezeOptions,
): Promise<number> {
  const scope = scopeOf(options);
  const until = needEnd(options, clockOf(terminal.io).now());
  const before =
    Object.keys(scope).length > 0
      ? undefined
      : (await readFreezes(server)).find((one) => one.scope === undefined);
  const input = { ...scope, until, reason: options.reason };
  const { unchecked, ...begun } = await asUsage(() => server.post<BegunFreeze>('/freezes', input));
  printFrozen({ freeze: freezeIn(begun), before, unchecked: unchecked ?? undefined }, terminal);
  return exit.ok;
}

/** Lists the active freezes of the server. */
export async function freezes(
  terminal: Terminal,
  server: Server,
  _args: string[],
  options: OutputOption,
): Promise<number> {
  await showFreezes(await readFreezes(server), terminal, options);
  return exit.ok;
}

/** Ends a freeze of the server early. */
export async function unfreeze(
  terminal: Terminal,
  server: Server,
  [id]: string[],
  { reason }: ReasonOption,
): Promise<number> {
  const path = `/freezes/${encodeURIComponent(id ?? 'everything')}/end`;
  const { ended } = await asUsage(() => server.post<{ ended: FreezeAnswer | null }>(path, { reason }));
  const others = (await readFreezes(server)).filter((one) => one.scope !== undefined);
  printUnfrozen({ id, ended: ended ? freezeIn(ended) : undefined, others }, terminal);
  return exit.ok;
}
