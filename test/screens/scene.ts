/** The morning at which somebody looks: what runs now, what waits for a person, and what is wrong. */
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Daemon, startDaemon } from '../../src/app/daemon.ts';
import { carryOut } from '../../src/control/carry-out.ts';
import type { Actor } from '../../src/control/command.ts';
import { beginFreeze } from '../../src/control/commands/freeze.ts';
import { pausePolicy } from '../../src/control/commands/pause-policy.ts';
import { isFinal } from '../../src/run/moves.ts';
import type { Run } from '../../src/run/run.ts';
import type { Agency } from './agency.ts';
import { PASSWORD } from './agency.ts';

/** A Monday, 08:30 in Berlin. */
export const MORNING = Date.UTC(2026, 10, 23, 7, 30);
const SPEED = 60;
const MAX_WAIT_MS = 120_000;

export interface Scene {
  url: string;
  daemon: Daemon;
  /** What runs and waits. */
  running: Run;
  closedGate: Run;
}

export async function setTheScene(agency: Agency): Promise<Scene> {
  const { caretaker, clock, policiesDir, services } = agency;
  const { engine } = caretaker;
  clock.runAt(SPEED);
  const daemon = await startDaemon({ caretaker, roles: ['scheduler', 'worker', 'dashboard'] });
  const fire = (name: string) =>
    engine.fire(agency.policy(name), { trigger: 'manual', scheduledFor: clock.now() });

  const rollout = await fire('sync-new-plugin-version');
  // Of the first batch more fail than its gate allows.
  for (const id of services.default.siteIds().filter((_, index) => index % 4 === 0)) {
    services.default.site(id).failNextSync('The disk of the site is full.');
  }
  const closedGate = await until(agency, rollout.id, ({ rollout: state }) => state?.is === 'closed');

  const { id } = await fire('sync-everything');
  const running = await until(agency, id, ({ counts }) => counts.succeeded > 0);

  const ben: Actor = {
    principal: { kind: 'user', name: 'ben', grants: [{ role: 'operator' }] },
    from: '192.0.2.17',
  };
  const deps = { ...caretaker, policy: agency.policy, needAccount: () => undefined };
  await carryOut(
    pausePolicy,
    deps,
    { policy: 'activity-logs', reason: 'The client moves to another host' },
    ben,
  );
  await carryOut(
    beginFreeze,
    deps,
    { account: 'hotels', until: '2026-11-27T22:00:00Z', reason: 'Black Friday' },
    ben,
  );
  appendFileSync(
    join(policiesDir, 'care.yaml'),
    '\n  - name: weekly-shop-report\n    job: reprot-dispatch\n',
  );
  const url = daemon.dashboard?.url ?? '';
  const cookie = await signedIn(url);
  const overview = async () => (await fetch(url, { headers: { cookie } })).text();
  while (!(await overview()).includes('care.yaml')) await clock.sleep(500);
  clock.runAt(1);
  return { url, daemon, running, closedGate };
}

/** A session of ana's, as a cookie. */
export async function signedIn(url: string, name = 'ana'): Promise<string> {
  const answer = await fetch(`${url}/sign-in`, {
    method: 'POST',
    redirect: 'manual',
    headers: { origin: url },
    body: new URLSearchParams({ name, password: PASSWORD }),
  });
  const cookie = answer.headers.get('set-cookie')?.split(';')[0];
  if (!cookie) throw new Error(`${name} cannot sign in: ${answer.status}.`);
  return cookie;
}

async function until(
  { caretaker: { records } }: Agency,
  id: string,
  holds: (run: Run) => boolean,
): Promise<Run> {
  const begun = performance.now();
  for (;;) {
    const run = await records.runs.get(id);
    if (run && holds(run)) return run;
    if (!run || isFinal(run.status) || performance.now() - begun > MAX_WAIT_MS) {
      throw new Error(`${id} is not as the scene needs it: ${JSON.stringify(run)}`);
    }
    await new Promise((done) => setTimeout(done, 20));
  }
}
