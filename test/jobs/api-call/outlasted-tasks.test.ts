/** A task that outlasts the time limit of its target: later runs read it before they start another one. */
import { afterEach, describe, expect, test } from 'vitest';
import { apiCall } from '../../../jobs/api-call/job.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import type { Run } from '../../../src/run/run.ts';
import { aPolicyOf } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { callOf } from './policies.ts';

let world: World;
afterEach(() => world.stop());

const select = { from: 'listSites', where: 'site.backups.latest_snapshot.id != ""', limit: 2 };
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
const ended = async (run: Run) => {
  const targets = await world.targets(await world.ended(run));
  return targets.map(
    ({ outcome, reason, steps }) => (outcome === 'succeeded' && steps?.at(-1)?.reason) || reason,
  );
};

/** The policy with a time limit for each target. */
const within = (minutes: number, call: object): Policy => {
  const policy = callOf(select, call);
  return { ...policy, timeout: { ...policy.timeout, targetMs: minutes * 60_000 } };
};
/** The same as the second step of a policy. */
const asStep = (minutes: number): Policy => {
  const step = (options: object) => ({
    name: 'api-call',
    job: 'api-call',
    options: apiCall.options.parse(options),
  });
  const note = { operation: 'createSiteNote', body: { note: { content: 'Backup.' } }, once: 'note' };
  const { select, timeout } = within(minutes, upload);
  return aPolicyOf([step(note), step(upload)], { select, timeout });
};

describe.each([
  ['a call', (minutes: number) => within(minutes, upload)],
  ['a call with once', (minutes: number) => within(minutes, { ...upload, once: 'weekly' })],
  ['a step', asStep],
])('%s whose task was running at the time limit', (_, policy) => {
  test('is followed by the retry and the next run, and made again only where the task failed', async () => {
    world = await startWorld({ sites: 20 });
    const { client } = world.caretaker.link('default');
    const first = await world.fire(policy(2));
    expect(await ended(first)).toEqual(['timeout', 'timeout']);

    expect(await ended(await world.caretaker.engine.retry(first.id))).toEqual(['timeout', 'timeout']);
    expect(uploads()).toHaveLength(2);
    const [, { taskId: task_id = '' } = {}] = await world.targets(first);
    await client.call('cancelTask', { task_id }, { requestClass: 'person' });

    expect(await ended(await world.fire(policy(20)))).toEqual(['adopted', 'done']);
    expect(uploads()).toHaveLength(3);
  });

  test('is done for the next run when the task has completed meanwhile', async () => {
    world = await startWorld({ sites: 20 });
    const first = await world.fire(policy(2));
    expect(await ended(first)).toEqual(['timeout', 'timeout']);
    world.clock.leap(600_000);

    expect(await ended(await world.caretaker.engine.retry(first.id))).toEqual([
      'already-done',
      'already-done',
    ]);
    expect(uploads()).toHaveLength(2);
  });
});
