/**
 * Looks again at what a plan rests on, before its targets are acted on.
 *
 * The plan is made again for the same targets, as of the time at which it was made: so whatever comes out otherwise
 * is due to a change in the account, and never to the time that has passed. A target that comes out as it was
 * planned may be acted on. Any other ends as `changed-since-plan`, with what differs; a target that a freeze holds
 * ends as `frozen`.
 *
 * Costs what planning costs: one request per 100 candidates, and up to `MAX_EXPLAINED` more to say why targets are
 * no longer listed.
 */
import type { End } from '../../job/answer.ts';
import { isList } from '../../job/candidates.ts';
import { candidatesOf, listDeclared } from '../../job/source.ts';
import type { PlannedTarget } from '../../records/planned-store.ts';
import { visibleLine } from '../../text.ts';
import { candidates } from './candidates.ts';
import { type Difference, differencesOf } from './facts.ts';
import type { Planned, Planning } from './planning.ts';

/** How many targets that are no longer listed are requested by their ids, to see what changed. */
const MAX_EXPLAINED = 10;

/** How many targets are read from the records at once. */
const PAGE = 500;

/** How many differences a detail names, and how long each value may be. */
const MAX_DIFFERENCES = 3;

const MAX_VALUE = 60;

/** What becomes of a target that was planned before: it is acted on as planned, or has ended. */
export type Rechecked = Extract<Planned, { is: 'target' | 'ended' }>;

/** The same, with what was planned before. */
export interface Compared {
  now: Rechecked;
  was: PlannedTarget;
}

/** When a plan was made, by our clock and by the service's. */
export interface DecidedAt {
  at: number;
  serviceAt: number;
}

/**
 * Plans targets again. `before` gives what was planned for some targets, a page at a time; what it does not know is
 * left out.
 *
 * @throws the client's errors, as planning does.
 */
export async function* recheck(
  planning: Planning & { only: readonly string[] },
  decided: DecidedAt,
  before: (ids: readonly string[]) => Promise<ReadonlyMap<string, PlannedTarget>>,
): AsyncGenerator<Compared> {
  const again: Planning = {
    ...planning,
    now: decided.at,
    again: { serviceNow: decided.serviceAt },
    withFacts: true,
  };
  const unlisted: { id: string; was: PlannedTarget }[] = [];
  for await (const page of inPages(candidates(again))) {
    const known = await before(page.map(({ id }) => id));
    for (const planned of page) {
      const was = known.get(planned.id);
      if (!was || planned.is === 'excluded') continue;
      if (planned.is === 'ended' && planned.unselected && !planned.facts)
        unlisted.push({ id: planned.id, was });
      else yield { was, now: compared(was, planned) };
    }
  }
  const explained = await explainUnlisted(again, unlisted);
  for (const { id, was } of unlisted) {
    const detail = explained.get(id) ?? 'The service no longer lists it for this policy.';
    yield { was, now: changed({ is: 'ended', id, label: was.label }, detail) };
  }
}

/** Planned targets, in pages for which the records are read at once. */
async function* inPages(all: AsyncIterable<Planned>): AsyncGenerator<Planned[]> {
  let page: Planned[] = [];
  for await (const one of all) {
    page.push(one);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

/** What changed about targets that are not listed any more, by their ids, as far as that can be found out. */
async function explainUnlisted(
  again: Planning,
  unlisted: readonly { id: string; was: PlannedTarget }[],
): Promise<Map<string, string>> {
  const { policy, job } = again;
  const list = candidatesOf(job, policy.select);
  const takesIds = isList(list) && listDeclared(list)?.filters['id']?.operators.includes('eq');
  if (!takesIds || policy.select.forEach || unlisted.length === 0) return new Map();
  const some = unlisted.slice(0, MAX_EXPLAINED);
  const known = new Map(some.map(({ id, was }) => [id, was]));
  const found = new Map(some.map(({ id }) => [id, 'It is no longer in the account.']));
  const { serviceNow } = again.again ?? {};
  if (serviceNow === undefined) return new Map();
  const open: Planning = {
    ...again,
    only: [...known.keys()],
    again: { serviceNow, withoutFilters: true },
    policy: { ...policy, select: { ...policy.select } },
  };
  for await (const planned of candidates(open)) {
    const was = known.get(planned.id);
    if (!was || planned.is === 'excluded' || !planned.facts) continue;
    const differences = differencesOf(was.facts, planned.facts);
    found.set(
      planned.id,
      differences.length > 0
        ? formatDifferences(differences)
        : 'The service no longer lists it with the filters of the policy.',
    );
  }
  return found;
}

/** A target as it was planned, if nothing differs. */
function compared(was: PlannedTarget, planned: Rechecked): Rechecked {
  if (planned.is === 'ended' && planned.end.reason === 'frozen') return planned;
  const differences = differencesOf(was.facts, planned.facts ?? {});
  if (differences.length > 0) return changed(planned, formatDifferences(differences));
  // People know it by its label, and have agreed to that one.
  if (was.label !== planned.label)
    return changed(planned, formatDifferences([{ field: 'its label', from: was.label, to: planned.label }]));
  if (planned.is === 'ended') return changed(planned, planned.end.detail ?? 'It has its outcome already.');
  if (was.jobState === planned.jobState) return planned;
  return changed(planned, formatDifferences(differencesInState(was.jobState, planned.jobState)));
}

function changed({ id, label }: Pick<Rechecked, 'is' | 'id' | 'label'>, detail: string): Rechecked {
  const end: End = { is: 'skipped', reason: 'changed-since-plan', detail };
  return { is: 'ended', id, label, end };
}

/** What the job made of the rest of the account, where no field of the target itself differs. */
function differencesInState(before: string | undefined, now: string | undefined): Difference[] {
  const fieldsOf = (text = '{}') => {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : { value };
  };
  return differencesOf(fieldsOf(before), fieldsOf(now));
}

/** `site.sync.paused: false → true` */
export function formatDifferences(differences: readonly Difference[]): string {
  const shown = differences
    .slice(0, MAX_DIFFERENCES)
    .map(({ field, from, to }) => `${field}: ${formatValue(from)} → ${formatValue(to)}`);
  const more = differences.length - shown.length;
  return [...shown, ...(more > 0 ? [`${more} more`] : [])].join('; ');
}

function formatValue(value: unknown): string {
  if (value === undefined) return 'not shown';
  const text = visibleLine(typeof value === 'string' ? value || '""' : JSON.stringify(value));
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE - 1)}…` : text;
}
