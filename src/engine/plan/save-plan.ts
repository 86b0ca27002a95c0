/** Makes a plan that can be saved in a file and applied later. */
import { isoTime } from '../../clock.ts';
import type { AnyJob, Once } from '../../job/job.ts';
import type { Policy } from '../../policy/policy.ts';
import type { PlannedRequest } from '../../records/planned-store.ts';
import { redact } from '../../secrets.ts';
import { canonicalJson, countOf } from '../../text.ts';
import type { PlanDeps, Reading } from '../deps.ts';
import { plannedRequests } from './planned-requests.ts';
import type { Planned } from './planning.ts';
import { type MadePlan, makePlan, type Preview } from './preview.ts';
import { FORMAT, hashOfPlan, type SavedPlan, SavedPlanError } from './saved-plan.ts';

export interface Saving {
  /** Only these targets. */
  only?: readonly string[] | undefined;
  /** How long the plan may be applied. */
  expiresMs: number;
  baseUrl: string;
  /** The version of Caretaker. */
  version: string;
}

export interface SaveDeps extends PlanDeps {
  /** The holders of the keys of a target, as our records know them. */
  holderOf(account: string, target: string): Once['holder'];
}

type PlannedTarget = Extract<Planned, { is: 'target' }>;

/** A request is sent at another time than planned: one that names the time is not known. */
const LATER_MS = 37 * 3_600_000 + 61_000;
/** How many targets a message names. */
const MAX_NAMED = 3;

/**
 * Plans, and finds out every request of every target. Costs what planning costs; and for a job that looks at each
 * target before it acts, what that costs, because the plan has to know what it finds.
 *
 * @throws {SavedPlanError} when the requests of a target are not known before it is acted on, when they contain
 * what looks like a credential, or when a limit would stop the run.
 */
export async function makeSavedPlan(
  deps: SaveDeps,
  policy: Policy,
  { only, expiresMs, baseUrl, version }: Saving,
): Promise<{ saved: SavedPlan; preview: Preview }> {
  needNoSecrets(policy);
  const made = await makePlan(deps, policy, { only, withFacts: true });
  const { preview, job, names, decidedAt } = made;
  if (preview.stoppedBy !== undefined)
    throw new SavedPlanError(
      `The plan was not saved, because its run would be stopped: ${preview.stoppedBy}`,
    );
  let reads = 0;
  const reading = readingOnce(deps.link(policy.account).client, () => {
    reads += 1;
  });
  const targets: SavedPlan['targets'] = [];
  const unknown: { label: string; why: string }[] = [];
  for (const target of made.planned) {
    if (target.is !== 'target') continue;
    const found = await requestsOf(target, made, reading, deps);
    if ('why' in found) unknown.push({ label: target.label, why: found.why });
    else targets.push(savedTarget(target, found.requests, job, made.policy));
  }
  if (unknown.length > 0) throw notKnown(unknown, targets.length + unknown.length);
  const requests = targets.reduce((sum, target) => sum + target.requests.length, 0);
  const plan: Omit<SavedPlan, 'hash'> = {
    format: FORMAT,
    caretaker: version,
    planned_at: isoTime(decidedAt.at),
    planned_at_service: isoTime(Math.round(decidedAt.serviceAt)),
    expires_at: isoTime(decidedAt.at + expiresMs),
    account: { name: policy.account, base_url: baseUrl },
    policy: { name: policy.name, job: policy.job, file: policy.file, definition: policy },
    names: names.map(({ path, kind, name, id }) => ({ path: [...path], kind, name, id })),
    targets,
    settled: preview.ended.map(({ id, label, outcome, reason, why }) => ({
      id,
      label,
      outcome,
      reason,
      why,
    })),
    excluded: countsOf(preview.excluded.map(({ why }) => why)),
    recording: recordingOf(preview),
    warnings: [...preview.warnings],
    cost: { acting: Math.max(preview.cost.acting, requests), following: preview.cost.following },
    totals: {
      targets: targets.length,
      requests,
      settled: preview.ended.length,
      excluded: preview.excluded.length,
    },
  };
  // As it is read again: what JSON does not have is not hashed.
  const asRead = JSON.parse(JSON.stringify(plan)) as typeof plan;
  const cost = { ...preview.cost, planning: preview.cost.planning + reads };
  return { saved: { ...asRead, hash: hashOfPlan(asRead) }, preview: { ...preview, cost } };
}

/** The requests of a target, or why they cannot be saved. */
async function requestsOf(
  target: PlannedTarget,
  { job, policy, decidedAt: { at } }: MadePlan,
  reading: Reading,
  deps: SaveDeps,
): Promise<{ requests: PlannedRequest[] } | { why: string }> {
  const holder = deps.holderOf(policy.account, target.id);
  const at_ = (now: number) => plannedRequests(job, policy, target, { reading, at, now, holder });
  const [found, later] = [await at_(at), await at_(at + LATER_MS)];
  if ('unknown' in found) return { why: found.unknown };
  if (found.more !== undefined) return { why: found.more };
  if (canonicalJson(found) !== canonicalJson(later))
    return { why: 'It has the time at which it is sent, as an announcement (grace) does.' };
  const { requests } = found;
  if (canonicalJson(requests) !== canonicalJson(redact(requests)))
    return { why: 'What is sent contains what looks like a credential, and a file must not repeat it.' };
  return { requests };
}

function savedTarget(
  { id, label, plan, jobState, facts = {} }: PlannedTarget,
  requests: PlannedRequest[],
  { requestsPerTarget }: AnyJob,
  { options }: Policy,
): SavedPlan['targets'][number] {
  return {
    id,
    label,
    ...(plan === undefined ? {} : { plan }),
    requests,
    preconditions: { ...facts },
    ...(jobState === undefined ? {} : { state: jobState }),
    cost: typeof requestsPerTarget === 'number' ? requestsPerTarget : requestsPerTarget(options),
  };
}

/** Reads each thing once, however often a job looks at it. */
function readingOnce({ call, serviceTime }: Reading, onRequest: () => void): Reading {
  const answers = new Map<string, Promise<unknown>>();
  const options = { requestClass: 'person' as const, onRequest };
  return {
    call: ((operation: never, input: never) => {
      const key = canonicalJson([operation, input]);
      const known = answers.get(key) ?? call(operation, input, options);
      answers.set(key, known);
      return known;
    }) as Reading['call'],
    serviceTime: (at) => serviceTime(at, options),
    download: (operation) =>
      Promise.reject(new SavedPlanError(`It depends on ${operation}, which is too large to look at.`)),
  };
}

/** A file repeats its policy, and must not repeat a credential. */
function needNoSecrets(policy: Policy): void {
  if (canonicalJson(policy) === canonicalJson(redact(policy))) return;
  throw new SavedPlanError(
    `The plan was not saved: the policy ${policy.name} contains what looks like a credential, and the file would repeat it.`,
  );
}

function notKnown(unknown: readonly { label: string; why: string }[], all: number): SavedPlanError {
  const [first] = unknown;
  const same = unknown.filter(({ why }) => why === first?.why);
  const named = same.slice(0, MAX_NAMED).map(({ label }) => label);
  const more = same.length - named.length;
  const list = `${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
  return new SavedPlanError(
    `The plan was not saved: for ${unknown.length} of ${countOf(all, 'target')} it is not known what would be sent. ${first?.why ?? ''} (${list})`,
  );
}

function countsOf(reasons: readonly string[]): SavedPlan['excluded'] {
  const counts = new Map<string, number>();
  for (const why of reasons) counts.set(why, (counts.get(why) ?? 0) + 1);
  return [...counts].map(([why, count]) => ({ why, count }));
}

const recordingOf = ({ recording }: Preview): SavedPlan['recording'] =>
  recording
    ? {
        sites: recording.sites,
        custom_work: recording.customWork ?? null,
        note: recording.note ? 'living' : null,
      }
    : null;
