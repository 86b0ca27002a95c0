/** Runs one test of a policy, and says what differs from what it expects. */

import { isDeepStrictEqual } from 'node:util';
import { isoTime } from '../../clock.ts';
import { dayIn, firstAt } from '../../dates.ts';
import type { Preview } from '../../engine/plan/preview.ts';
import { lineOf } from '../../engine/record/living-note.ts';
import { CaretakerError } from '../../errors.ts';
import type { Registry } from '../../job/registry.ts';
import type { Policy, Schedule } from '../../policy/policy.ts';
import { fillTexts, usesSite } from '../../policy/record-texts.ts';
import type { PlannedRequest } from '../../records/planned-store.ts';
import { nextFirings } from '../../schedule/next-firings.ts';
import { readsOf } from '../inventory/inventory.ts';
import { planOffline } from '../offline-plan.ts';
import type { Reads } from '../reads.ts';
import { givenReads } from './given-reads.ts';
import type { LoadedTest } from './load-tests.ts';
import type { PolicyTest } from './test-file.ts';

// What a run at the time of planning would write to the sites (`record:`) if each of its targets ends as done.

export interface Recording {
  site: string;
  /** Without the reference that the last line of a description is. */
  custom_work?: { title: string; description: string; performed_on: string };
  /** The line of the run in the note. */
  note?: string;
}

/** @throws {NotHeldError} when a text uses the site, and `reads` does not hold it. */
export async function recordingsOf(
  policy: Policy,
  { targets }: Pick<Preview, 'targets'>,
  reads: Reads,
  now: number,
): Promise<Recording[]> {
  const counts = new Map<string, number>();
  for (const { recordSite: site } of targets)
    if (site !== undefined) counts.set(site, (counts.get(site) ?? 0) + 1);
  return Promise.all([...counts].map(([site, done]) => recordingOf(policy, site, done, reads, now)));
}

async function recordingOf(
  { name, schedule, record }: Policy,
  site: string,
  done: number,
  reads: Reads,
  now: number,
): Promise<Recording> {
  const { customWork, note } = record ?? {};
  const day = dayIn(schedule?.timezone ?? 'UTC', now);
  const id = `${name}.${isoTime(now).replace(/[-:]|\.\d+/g, '')}`;
  const run = { id, policy: name, trigger: 'schedule', scheduledFor: now } as const;
  const recording: Recording = { site };
  if (customWork) {
    const item = usesSite(customWork) ? await reads.view('showSite', { site_id: site }) : {};
    const facts = {
      run: { id, policy: name, date: day },
      outcome: { targets: done, ended_at: isoTime(now) },
    };
    const texts = fillTexts(customWork, (item as { site?: object }).site, facts, new Date(now));
    recording.custom_work = { ...texts, performed_on: day };
  }
  if (note) recording.note = lineOf(run, { done, failed: 0 }).text;
  return recording;
}

/** Where a plan is not what a test expects: the lines that are missing, and those that are there instead. */
export interface Difference {
  /** The key under `expect`. */
  at: string;
  missing: string[];
  unexpected: string[];
}

export interface TestResult {
  differences: Difference[];
  /** Why there is no plan to compare. */
  error?: string;
}

export interface TestDeps {
  registry: Pick<Registry, 'get'>;
  budget: { requestsPerMinute: number; reserve: number };
}

type Expected = PolicyTest['expect'];

/** Needs neither network nor Redis. */
export async function runTest({ test, policy, inventory }: LoadedTest, deps: TestDeps): Promise<TestResult> {
  const at = test.at === undefined ? undefined : Date.parse(test.at);
  const now = at ?? inventory?.savedAt ?? 0;
  const serviceNow = inventory ? now + inventory.serviceAt - inventory.savedAt : now;
  const reads = inventory
    ? readsOf(inventory, test.inventory ?? 'The inventory', policy.name, at)
    : givenReads(test.given ?? {}, now);
  const { expect } = test;
  const differences = nextDifferences(expect, policy, now);
  try {
    // A test of the schedule alone needs no account.
    const { next: _next, ...planned } = expect;
    if (Object.keys(planned).length === 0) return { differences };
    const preview = await planOffline(policy, { reads, now, serviceNow, ...deps });
    differences.push(...planDifferences(expect, preview, policy));
    if (expect.requests) {
      const unknown = preview.targets.find((target) => 'unknown' in target);
      if (unknown && 'unknown' in unknown)
        return { differences: differences.filter(isOne), error: unknown.unknown };
      const requests = preview.targets.flatMap((target) => ('requests' in target ? target.requests : []));
      differences.push(...requestDifferences(expect.requests, requests));
    }
    if (expect.recordings)
      differences.push(
        recordingDifference(expect.recordings, await recordingsOf(policy, preview, reads, now)),
      );
    return { differences: differences.filter(isOne) };
  } catch (error) {
    if (error instanceof CaretakerError)
      return { differences: differences.filter(isOne), error: error.message };
    throw error;
  }
}

const isOne = ({ missing, unexpected }: Difference): boolean => missing.length + unexpected.length > 0;

function nextDifferences({ next }: Expected, policy: Policy, now: number): Difference[] {
  if (!next) return [];
  const zone = policy.schedule?.timezone ?? 'UTC';
  const wanted = next.map((text) =>
    isoTime(/(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : firstAt(zone, Date.parse(`${text}Z`))),
  );
  // A policy that is switched off is tested as it will be when it is on.
  const { disabled: _, ...schedule } = policy.schedule ?? {};
  const on = policy.schedule ? { ...policy, schedule: schedule as Schedule } : policy;
  // A scheduled time that has passed is not over while its jitter is not.
  const times = nextFirings(on, now, next.length + 1)
    .filter(({ scheduledFor }) => scheduledFor > now)
    .slice(0, next.length)
    .map(({ scheduledFor }) => isoTime(scheduledFor));
  return [inList('next', wanted, times)].filter(isOne);
}

function planDifferences(expect: Expected, preview: Preview, { select }: Policy): Difference[] {
  const { targets, excluded, skipped, ended, cost, warnings, stopped } = expect;
  const { planning, acting, following } = preview.cost;
  const costs = { requests: planning + acting + following, planning, acting, following };
  return [
    ...(targets ? [targetDifference(targets, preview, select.sort !== undefined)] : []),
    ...(excluded ? [whyDifference('excluded', excluded, preview.excluded)] : []),
    ...(skipped
      ? [
          whyDifference(
            'skipped',
            skipped,
            preview.ended.filter(({ outcome }) => outcome === 'skipped'),
          ),
        ]
      : []),
    ...(ended ? [whyDifference('ended', ended, preview.ended)] : []),
    ...Object.entries(cost ?? {}).map(([name, wanted]) => {
      const actual = costs[name as keyof typeof costs];
      return inList(`cost.${name}`, [String(wanted)], [String(actual)]);
    }),
    ...(warnings ? [containing('warnings', warnings, preview.warnings)] : []),
    ...(stopped === undefined
      ? []
      : [containing('stopped', [stopped], preview.stoppedBy === undefined ? [] : [preview.stoppedBy])]),
  ];
}

interface Named {
  id: string;
  label: string;
}

const isNamed = (name: string) => (one: Named) => one.id === name || one.label === name;
const nameOf = ({ id, label }: Named): string => (id === label ? id : `${id} ${label}`);

function targetDifference(wanted: readonly string[], preview: Preview, ordered: boolean): Difference {
  const { targets } = preview;
  const others = [...preview.excluded, ...preview.ended];
  const missing = wanted
    .filter((name) => !targets.some(isNamed(name)))
    .map((name) => {
      const other = others.find(isNamed(name));
      return other ? `${name} (${'reason' in other ? other.reason : 'excluded'}: ${other.why})` : name;
    });
  const unexpected = targets.filter((one) => !wanted.some((name) => isNamed(name)(one))).map(nameOf);
  const isSame = missing.length + unexpected.length === 0;
  const isInOrder = targets.every((one, index) => isNamed(wanted[index] ?? '')(one));
  if (isSame && ordered && !isInOrder)
    return { at: 'targets', missing: [wanted.join(', ')], unexpected: [targets.map(nameOf).join(', ')] };
  return { at: 'targets', missing, unexpected };
}

/** Each must be there with its reason, or with a part of its sentence. Others may be there too. */
function whyDifference(
  at: string,
  wanted: Readonly<Record<string, string>>,
  found: readonly (Named & { reason?: string; why: string })[],
): Difference {
  const missing: string[] = [];
  const unexpected: string[] = [];
  for (const [name, part] of Object.entries(wanted)) {
    const one = found.find(isNamed(name));
    if (one && (one.reason === part || one.why.includes(part))) continue;
    missing.push(`${name}: ${part}`);
    if (one) unexpected.push(`${name}: ${one.reason === undefined ? '' : `${one.reason}, `}${one.why}`);
  }
  return { at, missing, unexpected };
}

/** Both lists hold the same, in the same order. */
function inList(at: string, wanted: readonly string[], found: readonly string[]): Difference {
  if (isDeepStrictEqual(wanted, found)) return { at, missing: [], unexpected: [] };
  const missing = wanted.filter((one) => !found.includes(one));
  const unexpected = found.filter((one) => !wanted.includes(one));
  return missing.length + unexpected.length > 0
    ? { at, missing, unexpected }
    : { at, missing: [wanted.join(', ')], unexpected: [found.join(', ')] };
}

/** Each found sentence contains a wanted text, and each wanted text is in one. */
const containing = (at: string, wanted: readonly string[], found: readonly string[]): Difference => ({
  at,
  missing: wanted.filter((part) => !found.some((one) => one.includes(part))),
  unexpected: found.filter((one) => !wanted.some((part) => one.includes(part))),
});

function requestDifferences(
  wanted: NonNullable<Expected['requests']>,
  found: PlannedRequest[],
): Difference[] {
  const left = [...found];
  const missing = wanted.filter((one) => {
    const match = left.findIndex(
      ({ operation, params, body }) =>
        operation === one.operation &&
        (one.params === undefined || isDeepStrictEqual({ ...params }, { ...one.params })) &&
        (one.body === undefined || isDeepStrictEqual(plain(body), plain(one.body))),
    );
    if (match >= 0) left.splice(match, 1);
    return match < 0;
  });
  return [{ at: 'requests', missing: missing.map(shown), unexpected: left.map(shown) }];
}

/** Each site has a recording with the fields that are expected, and no other site has one. */
function recordingDifference(
  wanted: NonNullable<Expected['recordings']>,
  found: readonly Recording[],
): Difference {
  const isMet = (one: (typeof wanted)[number]) => (recording: Recording) =>
    recording.site === one.site &&
    (one.note === undefined || recording.note === one.note) &&
    Object.entries(one.custom_work ?? {}).every(
      ([key, text]) => recording.custom_work?.[key as keyof Recording['custom_work']] === text,
    );
  return {
    at: 'recordings',
    missing: wanted.filter((one) => !found.some(isMet(one))).map((one) => JSON.stringify(one)),
    unexpected: found
      .filter((one) => !wanted.some((each) => isMet(each)(one)))
      .map((one) => JSON.stringify(one)),
  };
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null));

function shown({
  operation,
  params,
  body,
}: {
  operation: string;
  params?: object | undefined;
  body?: unknown;
}): string {
  const hasParams = params !== undefined && Object.keys(params).length > 0;
  return [operation, ...(hasParams ? [params] : []), ...(body === undefined ? [] : [body])]
    .map((part) => (typeof part === 'string' ? part : JSON.stringify(part)))
    .join(' ');
}
