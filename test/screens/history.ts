/**
 * The past of the agency, made by the engine: at each scheduled time the scheduler fires what is due, the workers
 * work on it against the service, and then the clock leaps to the next scheduled time.
 */
import { nextFirings } from '../../src/schedule/next-firings.ts';
import { tickOnce } from '../../src/schedule/scheduler.ts';
import type { Agency } from './agency.ts';

const DAY = 86_400_000;
/** Faster costs more: what the engine does each second is then most of the work. */
const SPEED = 120;
/** A run that has not ended by then has a fault. */
const MAX_RUN_MS = 120_000;

/** What happens on a day, in addition to the schedules. */
export type Incident = (agency: Agency, daysLeft: number) => Promise<void>;

/** Lives until `until`; `incident` is called once each day. */
export async function live(agency: Agency, until: number, incident: Incident): Promise<void> {
  const { caretaker, clock, policies } = agency;
  const { records, engine, log } = caretaker;
  const working = engine.work(50);
  const agenda: Parameters<typeof tickOnce>[1] = new Map();
  const deps = {
    policies: () => policies,
    fire: (policy: Parameters<typeof engine.fire>[0], firing: Parameters<typeof engine.fire>[1]) =>
      engine.fire(policy, firing),
    records,
    clock,
    log,
  };
  clock.runAt(SPEED);
  let day = Number.NaN;
  try {
    for (;;) {
      const next = Math.min(
        ...policies.map((policy) => nextFirings(policy, clock.now(), 1)[0]?.at ?? Infinity),
      );
      if (next > until) break;
      clock.leapTo(next + 1_000);
      const daysLeft = Math.floor((until - next) / DAY);
      if (daysLeft !== day) {
        day = daysLeft;
        await incident(agency, daysLeft);
        if (daysLeft % 10 === 0) process.stderr.write(`${daysLeft} days to go\n`);
      }
      await tickOnce(deps, agenda);
      await allEnded(agency);
      // Policies that follow others.
      await tickOnce(deps, agenda);
      await allEnded(agency);
      await caretaker.notifier.deliverDue();
    }
    clock.runAt(1);
    clock.leapTo(until);
  } finally {
    await working.stop();
  }
}

/** Resolves when no run is active but those that wait for a person. */
async function allEnded({ caretaker: { records }, services }: Agency): Promise<void> {
  const begun = performance.now();
  for (;;) {
    const active = (
      await Promise.all(Object.keys(services).map((account) => records.runs.active(account)))
    ).flat();
    const busy = active.filter(({ status }) => status !== 'awaiting-approval');
    if (busy.length === 0) return;
    if (performance.now() - begun > MAX_RUN_MS) {
      throw new Error(
        `These runs do not end: ${busy.map(({ id, status }) => `${id} (${status})`).join(', ')}.`,
      );
    }
    await new Promise((done) => setTimeout(done, 20));
  }
}
