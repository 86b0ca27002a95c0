/** What a target owns for its job: effects in the account, and keys of things that only one target may do. */
import type { Clock } from '../../clock.ts';
import type { OperationId } from '../../contract/operations.ts';
import type { Effects, Holder, Once, OpenAnnouncements } from '../../job/job.ts';
import type { Looks } from '../../job/look.ts';
import type { Policy } from '../../policy/policy.ts';
import { type KeyHolder, type Owner, ownerText } from '../../records/once-store.ts';
import type { Records } from '../../records/records.ts';
import type { Run, Target } from '../../run/run.ts';
import { findingsIn } from '../compare-findings.ts';
import type { EngineDeps } from '../deps.ts';
import { lastLook } from '../job-api.ts';

type RunOf = Pick<Run, 'id' | 'account'>;

/** What a target does at one step of its policy belongs to that step alone: a later step may do the same. */
export const ownerOf = (
  { id: run }: RunOf,
  { id: target, steps = [] }: Pick<Target, 'id' | 'steps'>,
): Owner => ({
  run,
  target,
  ...(steps.length === 0 ? {} : { step: steps.length }),
});

/** The owners of effects, as the job of a target sees them. */
export function effectsOf({ records, clock }: EngineDeps, run: RunOf, target: Target): Effects {
  const owner = ownerOf(run, target);
  const own = (what: 'claim' | 'belongsToOther') => (operation: OperationId, id: string) => {
    const now = clock.now();
    return records.effects[what](run.account, { operation, id }, owner, now, target.intent?.at ?? now);
  };
  return { claim: own('claim'), belongsToOther: own('belongsToOther') };
}

/** The holders of keys, as the job of a target sees them. */
export function onceOf(
  { records, clock }: EngineDeps,
  run: RunOf,
  target: Pick<Target, 'id' | 'steps'>,
): Once {
  const { account } = run;
  const owner = ownerOf(run, target);
  const asHolder = async (held: KeyHolder): Promise<Holder> => {
    if (ownerText(held) === ownerText(owner)) return { ...held, isOurs: true };
    const holder = await records.targets.get(held.run, held.target);
    const step = holder?.steps?.[held.step ?? 0];
    if (step) return { ...held, isOurs: false, endedAt: step.at, reason: step.reason };
    if (holder?.state === 'ended')
      return { ...held, isOurs: false, endedAt: holder.finishedAt, reason: holder.reason };
    // A run that was removed, with its targets, ended long ago.
    return { ...held, isOurs: false, ...(holder ? {} : { endedAt: held.at }) };
  };
  return {
    claim: async (key, instead, result) =>
      asHolder(await records.once.claim(account, key, owner, clock.now(), instead, result)),
    holder: async (key) => {
      const held = await records.once.holder(account, key);
      return held && asHolder(held);
    },
    note: (key, result) => records.once.note(account, key, owner, result),
    results: (names) => records.once.results(account, names),
  };
}

/** The open announcements of a policy, as its job sees them. */
export const announcementsOf = (
  { announcements }: Pick<Records, 'announcements'>,
  { account, name }: Pick<Policy, 'account' | 'name'>,
): OpenAnnouncements => ({
  add: (key, facts) => announcements.add(account, name, key, facts),
  remove: (key) => announcements.remove(account, name, key),
  all: () => announcements.all(account, name),
});

/** What runs of the policy saw of its rings, as its job sees and replaces it. */
export const looksOf = (
  { records, clock }: Pick<EngineDeps, 'records' | 'clock'>,
  { id, account }: RunOf,
  policy: string,
): Looks => ({
  last: () => lastLook(records, account, policy),
  keep: ({ rings: view, sites }) =>
    records.looks.keep(account, policy, { run: id, at: clock.now(), view }, sites),
});

/** What is the target's own, as its job sees it. */
export const ownOf = (deps: EngineDeps, run: RunOf & { policy: Policy }, target: Target) => ({
  effects: effectsOf(deps, run, target),
  once: onceOf(deps, run, target),
  announcements: announcementsOf(deps.records, run.policy),
  looks: looksOf(deps, run, run.policy.name),
  findingsOf: findingsIn(deps.records, run.account),
});

// Renews the claims of the steps in progress: all with one timer, since most steps are over before it fires.

/** How often a worker renews the claims on its targets. */
const RENEW_INTERVAL_MS = 5_000;

interface Claim {
  /** Does not reject. */
  renew(): Promise<void>;
}

export class Claims {
  private readonly held = new Set<Claim>();
  private renewing: Promise<unknown> = Promise.resolve();
  private timer: AbortController | undefined;

  constructor(private readonly clock: Pick<Clock, 'sleep'>) {}

  hold(claim: Claim): void {
    this.held.add(claim);
    if (!this.timer) void this.renewUntil(new AbortController());
  }

  /** Resolves when the claim is not being renewed any more. */
  async release(claim: Claim): Promise<void> {
    this.held.delete(claim);
    if (this.held.size === 0) {
      this.timer?.abort('done');
      this.timer = undefined;
    }
    await this.renewing;
  }

  private async renewUntil(timer: AbortController): Promise<void> {
    this.timer = timer;
    while (!timer.signal.aborted) {
      await this.clock.sleep(RENEW_INTERVAL_MS, timer.signal);
      if (timer.signal.aborted) return;
      this.renewing = Promise.all([...this.held].map((claim) => claim.renew()));
      await this.renewing;
    }
  }
}
