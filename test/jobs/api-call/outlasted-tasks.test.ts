/** A task that outlasts the time limit of its target: later runs read it before they start another one. */
import { afterEach, describe, expect, test } from 'vitest';
import { apiCall } from '../../../jobs/api-call/job.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import type { Run, Target } from '../../../src/run/run.ts';
import { aPolicyOf } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { asPerson } from '../acting.ts';
import { callOf } from './policies.ts';

let world: World;
afterEach(() => world.stop());
const call = asPerson(() => world);

/** Takes eight minutes. */
const upload = {
  operation: 'startSiteBackupUpload',
  params: { snapshot_id: { cel: 'site.backups.latest_snapshot.id' } },
  body: {
    upload: {
      destination: { provider: 'provider_one' },
      scope: { include_files: true, include_database: true },
    },
  },
};
const uploads = () => world.sandbox.journal.effectsOf('startSiteBackupUpload');
const reasonsOf = (targets: readonly Target[]) =>
  targets.map(({ outcome, reason, steps }) => (outcome === 'succeeded' && steps?.at(-1)?.reason) || reason);

type Within = (minutes: number, sites: readonly string[]) => Policy;
/** The call for some sites, with a time limit for each. */
const calling =
  (name: string, call: object): Within =>
  (minutes, sites) => {
    const policy = callOf({ from: 'listSites', where: `site.id in ${JSON.stringify(sites)}` }, call);
    return { ...policy, name, timeout: { ...policy.timeout, targetMs: minutes * 60_000 } };
  };
const step = (options: object) => ({
  name: 'api-call',
  job: 'api-call',
  options: apiCall.options.parse(options),
});
const note = { operation: 'createSiteNote', body: { note: { content: 'Backup.' } }, once: 'note' };
/** The same as the second step of a policy. */
const asStep: Within = (...given) => {
  const { select, timeout } = calling('step', upload)(...given);
  return aPolicyOf([step(note), step(upload)], { select, timeout });
};
const kinds: Record<string, Within> = {
  'a call': calling('call', upload),
  'a call with once': calling('once', { ...upload, once: 'weekly' }),
  'a step': asStep,
};
const ofEach = (reasons: string[]) => Object.fromEntries(Object.keys(kinds).map((kind) => [kind, reasons]));

/** Two sites with backups for each kind of policy. */
async function start(): Promise<Map<string, string[]>> {
  world = await startWorld({ sites: 20 });
  const { sites } = await call('listSites', {});
  const ids = sites.flatMap(({ id, backups }) => (backups?.latest_snapshot?.id ? [id] : []));
  return new Map(Object.keys(kinds).map((kind, i) => [kind, ids.slice(2 * i, 2 * i + 2)]));
}

/** Starts a run of each kind at the same time. Gives how the targets of each ended, and the runs. */
async function ended(fire: (kind: string, policy: Within) => Promise<Run>) {
  const all = Object.entries(kinds).map(async ([kind, policy]) => {
    const run = await world.ended(await fire(kind, policy));
    const targets = await world.targets(run);
    return { kind, run, targets, reasons: reasonsOf(targets) };
  });
  const runs = await Promise.all(all);
  return {
    reasons: Object.fromEntries(runs.map(({ kind, reasons }) => [kind, reasons])),
    of: (kind: string) => runs.find((one) => one.kind === kind)?.run.id ?? '',
    second: runs.map(({ targets }) => targets[1]?.taskId ?? ''),
  };
}

describe('a task that was running at the time limit', () => {
  test('is followed by the retry and the next run, and made again only where it failed', async () => {
    const sites = await start();
    const first = await ended((kind, policy) => world.fire(policy(2, sites.get(kind) ?? [])));
    expect(first.reasons).toEqual(ofEach(['timeout', 'timeout']));

    const retried = await ended((kind) => world.caretaker.engine.retry(first.of(kind)));
    expect(retried.reasons).toEqual(ofEach(['timeout', 'timeout']));
    expect(uploads()).toHaveLength(6);
    for (const task_id of first.second) await call('cancelTask', { task_id });

    const next = await ended((kind, policy) => world.fire(policy(20, sites.get(kind) ?? [])));
    expect(next.reasons).toEqual(ofEach(['adopted', 'done']));
    expect(uploads()).toHaveLength(9);
  });

  test('is done for the next run when it has completed meanwhile', async () => {
    const sites = await start();
    const first = await ended((kind, policy) => world.fire(policy(2, sites.get(kind) ?? [])));
    expect(first.reasons).toEqual(ofEach(['timeout', 'timeout']));
    world.clock.leap(600_000);

    const retried = await ended((kind) => world.caretaker.engine.retry(first.of(kind)));
    expect(retried.reasons).toEqual(ofEach(['already-done', 'already-done']));
    expect(uploads()).toHaveLength(6);
  });
});
