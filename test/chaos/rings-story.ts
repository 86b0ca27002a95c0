/**
 * A policy with rings (`update-rings`): the first ring updates its sites, the versions soak, go on to the next ring and
 * the one after it, and then a version breaks sites. Each ring has one schedule, whoever died while it was made, and no
 * later ring gets what has not soaked or what broke sites.
 */
import { updateRings } from '../../jobs/update-rings/job.ts';
import type { Caretaker } from '../../src/app/caretaker.ts';
import type { Policy } from '../../src/policy/policy.ts';
import { isFinal } from '../../src/run/moves.ts';
import type { Reason } from '../../src/run/reasons.ts';
import type { Target } from '../../src/run/run.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';
import { aPolicy } from '../support/builders.ts';
import { type Evidence, nextSites, type Story, targetsOf, wrongOf } from './story.ts';

const NAME = 'chaos-rings';
const RINGS = ['canary', 'early', 'rest'] as const;
type Ring = (typeof RINGS)[number];
/** Of each ring. */
const SITES = 4;
const SOAK_MS = 60_000;
/** How long the updates of a ring take, and at most until the lists show what they did. */
const UPDATES_MS = 1_000;
const SHOWN_MS = 12_000;
/** By so much the service's clock is known, in a time that runs twenty times as fast. */
const CLOCK_MS = 5_000;
/** Every site has it. */
const BAD = 'contact-form/contact-form.php';

/** Ends after which a ring is as the job wants it. */
const settled = new Set<Reason>(['done', 'already-done', 'ring-broke', 'ring-holds']);
const operations = [
  'createAutoUpdateSchedule',
  'updateAutoUpdateSchedule',
  'enableAutoUpdateSchedule',
  'disableAutoUpdateSchedule',
  'cancelTask',
  'createSiteNote',
] as const;

/** Those that are looked at once more when nothing is killed any more. */
const told: Rings[] = [];

export const rings: Story = {
  name: NAME,
  operations,
  begin(sandbox, at) {
    const one = new Rings(sandbox, at);
    told.push(one);
    return {
      policy: one.policy,
      rounds: 8,
      planned: () => RINGS.length,
      after: (round, now) => one.after(round, now),
      lies: (evidence) => one.lies(evidence),
    };
  },
  async atEnd(caretaker) {
    const wrong: string[] = [];
    for (const one of told) wrong.push(...(await one.quiet(caretaker)));
    told.length = 0;
    return { wrong };
  },
};

class Rings {
  readonly policy: Partial<Policy> & { name: string };
  private readonly sites: Record<Ring, string[]>;
  /** The schedules of people, as they were. */
  private readonly people: ReadonlyMap<string, string>;
  /** When each ring last ran. */
  private readonly ran = new Map<Ring, number>();
  /** The task in which the bad version broke its sites. */
  private badTask: string | null | undefined;
  /** Every other time the broken sites have nothing in common but the bad version, which is suspect then. */
  private readonly suspects: boolean;
  /** Whether all rings were as they should be after the run before. */
  private wasSettled = false;

  constructor(
    private readonly sandbox: Sandbox,
    at: number,
  ) {
    sandbox.schedules.breakSites([]);
    const healthy = nextSites(sandbox, at).filter((id) => isHealthy(sandbox, id));
    const of = (ring: number) => healthy.slice(ring * SITES, (ring + 1) * SITES);
    this.sites = { canary: of(0), early: of(1), rest: of(2) };
    this.suspects = at % 2 === 0;
    const options = updateRings.options.parse({
      rings: RINGS.map((name) => ({
        name,
        where: `site.id in [${this.sites[name].map((id) => JSON.stringify(id)).join()}]`,
      })),
      updates: { themes: this.suspects ? 'none' : 'all' },
      native: { backup: false },
      when_bad: { note_on_sites: true },
    });
    this.policy = {
      name: `${NAME}-${at}`,
      job: 'update-rings',
      options: { ...options, soak: SOAK_MS },
    };
    this.people = this.others();
  }

  /** What happens in the account after a round; gives how long until the next. */
  after(round: number, now: number): number {
    if (round === 0) this.update('canary', now);
    if (round === 1) return this.soak('canary');
    // Only a ring that was promoted runs.
    if (round === 2 && this.isActive('early')) this.update('early', now);
    if (round === 3) return this.soak('early');
    if (round === 4) {
      for (const id of this.sites.canary) this.sandbox.site(id).fallBehind();
      this.sandbox.schedules.breakSites([{ filename: BAD, afterMs: UPDATES_MS }]);
      this.badTask = this.update('canary', now);
    }
    if (round === 5) {
      this.sandbox.schedules.breakSites([]);
      return SOAK_MS + CLOCK_MS;
    }
    return SHOWN_MS;
  }

  /** The service runs the schedule of a ring; gives the task. */
  private update(ring: Ring, now: number): string | null | undefined {
    const [id] = this.own(ring);
    if (id === undefined) return undefined;
    this.ran.set(ring, now);
    return this.sandbox.schedule(id).runNow(UPDATES_MS);
  }

  /** The sites of a ring sync, and time passes. */
  private soak(ring: Ring): number {
    for (const id of this.sites[ring]) {
      this.sandbox.site(id).startSync();
      this.sandbox.site(id).finishSync();
    }
    return SOAK_MS + CLOCK_MS;
  }

  /** The schedules with the mark of a ring. */
  private own(ring: Ring): string[] {
    const mark = `[caretaker ${this.policy.name}/${ring}]`;
    return this.sandbox.schedules.ids().filter((id) => this.sandbox.schedule(id).state().name.endsWith(mark));
  }

  private others(): Map<string, string> {
    return new Map(
      this.sandbox.schedules.ids().flatMap((id) => {
        const { nextAt: _, ...state } = this.sandbox.schedule(id).state();
        return state.name.includes(`[caretaker ${NAME}`) ? [] : [[id, JSON.stringify(state)]];
      }),
    );
  }

  private isActive(ring: Ring): boolean {
    const [id] = this.own(ring);
    return id !== undefined && this.sandbox.schedule(id).state().status === 'active';
  }

  /** Whether a ring would update the version that breaks sites. */
  private offersBad(ring: Ring): boolean {
    const [id] = this.own(ring);
    if (id === undefined || !this.isActive(ring)) return false;
    const { plugins } = this.sandbox.schedule(id).state();
    return plugins?.selection === 'all' || (plugins?.filenames.includes(BAD) ?? false);
  }

  *lies({ run, targets, effects, allEffects, round }: Evidence): Iterable<string> {
    const isSettled = (ring: Ring) => endOf(targets, ring) !== undefined;
    for (const ring of RINGS) {
      const ids = this.own(ring);
      yield* wrongOf(`${ring} is ${endOf(targets, ring)} and has ${ids.length} schedules`, [
        [ids.length > 1 || (isSettled(ring) && ids.length === 0), 'and should have one'],
      ]);
      if (isSettled(ring)) yield* this.liesAbout(ring, round, run.finishedAt ?? Number.POSITIVE_INFINITY);
    }
    const made = [...allEffects].filter(({ operation }) => operation === 'createAutoUpdateSchedule');
    for (const ring of RINGS) {
      const times = made.filter(({ resource }) => this.own(ring).includes(resource)).length;
      if (times > 1) yield `${ring} was created ${times} times`;
    }
    const [early] = this.own('early');
    const proven = (this.ran.get('canary') ?? Number.POSITIVE_INFINITY) + SOAK_MS - CLOCK_MS;
    for (const { operation, resource, at } of effects)
      if (round < 4 && operation === 'enableAutoUpdateSchedule' && resource === early && at < proven)
        yield 'early was enabled before anything was proven';
    yield* this.liesAboutNotes(round, isSettled('canary'));
    yield* this.liesAboutPeople();
    const own = new Set(RINGS.flatMap((ring) => this.own(ring)));
    const changed = effects.filter(({ resource }) => own.has(resource));
    const allSettled = RINGS.every(isSettled);
    if (round === 7 && this.wasSettled && allSettled && changed.length > 0)
      yield `changed again what was right: ${JSON.stringify(changed)}`;
    this.wasSettled = allSettled;
  }

  /** A ring of which the run says that it is as it should be. */
  private *liesAbout(ring: Ring, round: number, endedAt: number): Iterable<string> {
    const isActive = this.isActive(ring);
    const offers = this.offersBad(ring);
    const ranAt = (of: Ring) => this.ran.get(of) ?? Number.POSITIVE_INFINITY;
    const record = `${ring} is ${isActive ? 'active' : 'paused'}${offers ? ' with the bad version' : ''}`;
    if (ring === 'canary') {
      yield* wrongOf(record, [
        [!isActive, 'and always runs'],
        [round < 5 && !offers, 'and takes everything'],
        [this.suspects && round >= 5 && offers, 'which is suspect'],
      ]);
      return;
    }
    if (round >= 5) {
      yield* wrongOf(record, [
        [offers, 'which broke sites'],
        [!this.suspects && isActive, 'although sites broke'],
      ]);
      return;
    }
    const before = ring === 'early' ? 'canary' : 'early';
    const isPromoted = round === (ring === 'early' ? 2 : 4) && this.ran.has(before);
    yield* wrongOf(record, [
      [offers && endedAt < ranAt(before) + SOAK_MS - CLOCK_MS, 'which has not soaked'],
      [isPromoted && !offers, 'although everything is proven'],
      [ring === 'early' && round > 2 && isActive && this.ran.has('early'), 'and has run'],
    ]);
  }

  private *liesAboutNotes(round: number, isSettled: boolean): Iterable<string> {
    if (!this.badTask) return;
    for (const id of this.sites.canary) {
      const times = this.sandbox
        .site(id)
        .notes()
        .filter((content) => content.includes(`(${this.policy.name}, task ${this.badTask})`)).length;
      if (times > 1 || (round >= 5 && isSettled && times !== 1)) yield `${id} broke and has ${times} notes`;
    }
  }

  private *liesAboutPeople(): Iterable<string> {
    const now = this.others();
    for (const [id, state] of this.people)
      if (now.get(id) !== state) yield `the schedule ${id} of a person is ${now.get(id)}, and was ${state}`;
  }

  /** Two more runs, while nothing is killed: the first puts everything right, the second finds nothing to do. */
  async quiet(caretaker: Caretaker): Promise<string[]> {
    const wrong: string[] = [];
    this.wasSettled = false;
    for (const round of [6, 7]) {
      let looked = await look(caretaker, this.sandbox, this.policy);
      // Connections may still be cut, and each look sends some hundred requests.
      for (
        let again = 0;
        again < 2 && looked.targets.some(({ reason }) => reason === 'unavailable');
        again += 1
      )
        looked = await look(caretaker, this.sandbox, this.policy);
      const { run, targets, effects } = looked;
      const allEffects = this.sandbox.journal.effects;
      const evidence = { run, targets, effects, allEffects, round, sandbox: this.sandbox };
      wrong.push(...this.lies(evidence));
      for (const ring of RINGS)
        if (endOf(targets, ring) === undefined && !targets.some(isUnavailable(ring)))
          wrong.push(`${ring} is ${JSON.stringify(targets.find(({ id }) => id === `ring:${ring}`))}`);
    }
    return wrong.map((says) => `${this.policy.name}: ${says}`);
  }
}

/** Whether too many of its requests were cut in a row: it says so, and the next run goes on. */
const isUnavailable =
  (ring: Ring) =>
  ({ id, reason }: Target): boolean =>
    id === `ring:${ring}` && reason === 'unavailable';

/** The reason of a ring that is as the job wants it; else undefined. */
function endOf(targets: readonly Target[], ring: Ring): Reason | undefined {
  const reason = targets.find(({ id }) => id === `ring:${ring}`)?.reason;
  return reason !== undefined && settled.has(reason) ? reason : undefined;
}

/** One run, from its start to its end. */
async function look(caretaker: Caretaker, sandbox: Sandbox, policy: Partial<Policy>) {
  const { engine, records, clock } = caretaker;
  const before = sandbox.journal.effects.length;
  const { id } = await engine.fire(aPolicy(policy), { trigger: 'manual', scheduledFor: clock.now() });
  let run = await records.runs.get(id);
  while (!run || !isFinal(run.status)) {
    await clock.sleep(2_000);
    run = await records.runs.get(id);
  }
  return { run, targets: await targetsOf(caretaker, id), effects: sandbox.journal.effects.slice(before) };
}

/** Makes a site that may be updated; some sites cannot be synced. */
function isHealthy(sandbox: Sandbox, id: string): boolean {
  const site = sandbox.site(id);
  // A site takes five syncs a day.
  if (site.state().syncsToday > 3) return false;
  site.connect();
  site.lock(false);
  site.pause(false);
  site.underMaintenance(false);
  site.finishSync();
  site.startSync();
  site.finishSync();
  site.fallBehind();
  return site.state().lastSyncStatus === 'succeeded';
}
