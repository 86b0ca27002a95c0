/** `caretaker findings`: what is wrong in the fleet. */
import { isoMinute } from '../../clock.ts';
import { carryOut } from '../../control/carry-out.ts';
import { acknowledgeFindings, unacknowledgeFindings } from '../../control/commands/acknowledge-findings.ts';
import { listFindingsCommand } from '../../control/commands/list-findings.ts';
import { NotFoundError } from '../../control/errors.ts';
import { type FindingReport, findingColumns, toFindingReport } from '../../control/finding-report.ts';
import type { FindingState, Severity } from '../../records/finding-words.ts';
import { carryOutHere } from '../carry-out-here.ts';
import { type GlobalOptions, hasRecords, type ReasonOption, settingsOf, withRecords } from '../context.ts';
import { exit, UsageError } from '../exit.ts';
import { localActor } from '../local-actor.ts';
import { type OutputOption, show } from '../output/show.ts';
import { type Terminal, table } from '../output/terminal.ts';
import { endText, type UntilOptions } from '../parse-end-time.ts';

export interface FindingsOptions extends GlobalOptions {
  severity?: Severity;
  state?: FindingState;
  policy?: string;
  account?: string;
  search?: string;
  limit: number;
}

/** A page of findings as programs get it. */
export interface FindingsAnswer {
  findings: readonly FindingReport[];
  next: string | null;
}

/** A page of the list may be short: with a search it reads a part of the findings. */
type ReadPage = (input: object) => Promise<FindingsAnswer>;

/** Lists findings, the most severe first. */
export async function findings(terminal: Terminal, options: FindingsOptions): Promise<number> {
  const settings = settingsOf(terminal, options);
  const nothing: FindingsAnswer = { findings: [], next: null };
  // A command that only reads does not start the embedded Redis.
  const found = hasRecords(settings)
    ? await withRecords(terminal, options, settings, (opened) =>
        collectFindings(options, async (input) => {
          const page = await carryOut(listFindingsCommand, opened, input, localActor());
          return { findings: page.findings.map(toFindingReport), next: page.next ?? null };
        }),
      )
    : nothing;
  await showFindings(found, terminal, options);
  return exit.ok;
}

export interface AcknowledgeOptions extends GlobalOptions, UntilOptions {
  account: string;
  about?: string;
  reason: string;
}

/** Acknowledges the open findings of a policy on a site. */
export async function acknowledge(
  terminal: Terminal,
  policy: string,
  site: string,
  options: AcknowledgeOptions,
): Promise<number> {
  return withRecords(terminal, options, settingsOf(terminal, options), async (opened) => {
    const input = acknowledgementOf(policy, site, options, opened.clock.now());
    const found = await asUsage(carryOutHere(acknowledgeFindings, opened, input, terminal));
    printAcknowledged(found.map(toFindingReport), terminal);
    return exit.ok;
  });
}

export type UnacknowledgeOptions = GlobalOptions &
  Pick<AcknowledgeOptions, 'account' | 'about'> &
  ReasonOption;

/** Ends the acknowledgement of the open findings of a policy on a site. */
export async function unacknowledge(
  terminal: Terminal,
  policy: string,
  site: string,
  options: UnacknowledgeOptions,
): Promise<number> {
  const { account, about, reason } = options;
  return withRecords(terminal, options, settingsOf(terminal, options), async (opened) => {
    const input = { policy, account, site, about, reason };
    const found = await asUsage(carryOutHere(unacknowledgeFindings, opened, input, terminal));
    printUnacknowledged(found.length, terminal);
    return exit.ok;
  });
}

/** What is sent with an acknowledgement. */
export function acknowledgementOf(
  policy: string,
  site: string,
  { account, about, reason, ...options }: AcknowledgeOptions,
  now: number,
) {
  const until = endText(options, now);
  return {
    ...{ policy, account, site, reason },
    ...(about === undefined ? {} : { about }),
    ...(until === undefined ? {} : { until }),
  };
}

const asUsage = <T>(result: Promise<T>): Promise<T> =>
  result.catch((error: unknown) => {
    throw error instanceof NotFoundError ? new UsageError(error.message) : error;
  });

export function printAcknowledged(found: readonly FindingReport[], { message }: Terminal): void {
  const until = found[0]?.acknowledged_until ?? null;
  const end = until === null ? 'until resolved' : `until ${isoMinute(Date.parse(until))}`;
  for (const { label, about, message: text } of found)
    message(`Acknowledged ${end}: ${label}, ${about}: ${text}`);
}

export function printUnacknowledged(count: number, { message }: Terminal): void {
  message(count === 1 ? 'The finding counts again.' : `${count} findings count again.`);
}

/** As many as the limit says, page by page. */
export async function collectFindings(
  { severity, state, policy, account, search, limit }: FindingsOptions,
  read: ReadPage,
): Promise<FindingsAnswer> {
  const all: FindingReport[] = [];
  let next: string | null = null;
  do {
    const input = { severity, state, policy, account, search, after: next ?? undefined };
    const page = await read({ ...input, limit: limit - all.length });
    all.push(...page.findings);
    next = page.next;
  } while (next !== null && all.length < limit);
  return { findings: all, next };
}

export async function showFindings(
  { findings, next }: FindingsAnswer,
  terminal: Terminal,
  options: OutputOption,
): Promise<void> {
  const text = () => {
    if (findings.length === 0) terminal.message('No finding matches.');
    else terminal.data(findingTable(findings, terminal));
    if (next !== null) terminal.message(`There are more. Use --limit to show more than ${findings.length}.`);
  };
  await show(terminal, options, { value: findings, columns: findingColumns, text });
}

const styles = { error: 'red', warning: 'yellow', info: 'dim' } as const;

const findingTable = (findings: readonly FindingReport[], { paint, dataColumns }: Terminal): string =>
  table(
    ['severity', 'state', 'policy', 'site', 'since', 'message'],
    findings.map(({ severity, state, policy, label, since, about, message }) => [
      paint(styles[severity], severity),
      state,
      policy,
      label,
      isoMinute(Date.parse(since)),
      `${about}: ${message}`,
    ]),
    paint,
    {
      columns: dataColumns,
      shrink: [
        { column: 5, min: 20 },
        { column: 3, min: 12 },
        { column: 5, min: 0 },
      ],
    },
  );
