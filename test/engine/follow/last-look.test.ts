/** Work whose time limit has passed is looked at once more before its target ends. */
import { expect, test } from 'vitest';
import { type Followed, lastLooks } from '../../../src/engine/follow/followed.ts';
import { callOf } from '../../jobs/api-call/policies.ts';
import { around, partsOf } from '../../support/between.ts';
import { worldOfTest } from '../../support/world-of-test.ts';

const MINUTE = 60_000;
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

test.each<[string, (real: string | undefined, ageMs: number) => string | undefined, object]>([
  [
    'as completed only at the limit is done',
    (real, ageMs) => (ageMs < 10 * MINUTE ? 'running' : real),
    { outcome: 'succeeded', reason: 'done' },
  ],
  [
    'as running at the limit ends with timeout',
    () => 'running',
    { reason: 'timeout', detail: expect.stringMatching(/still under way/) },
  ],
  [
    'without its status ends as unconfirmed, and is not called under way',
    () => undefined,
    {
      ...{ outcome: 'failed', reason: 'unconfirmed' },
      detail: expect.stringMatching(/^The task \S+ did not show whether it had ended\.$/),
    },
  ],
])('a task that no list shows, and its own view %s', async (_, status, expected) => {
  const world = await worldOfTest({ sites: 20 });
  const began = world.clock.now();
  around(world.caretaker.link('default').client, 'call', async (call, operation) => {
    const answer = (await call()) as { tasks?: object[]; task?: { status?: string } };
    if (operation === 'listTasks') return { ...answer, tasks: [] } as never;
    if (operation !== 'showTask') return answer as never;
    const shown = status(answer.task?.status, world.clock.now() - began);
    return { task: { ...answer.task, status: shown } } as never;
  });
  const select = { from: 'listSites', where: 'site.backups.latest_snapshot.id != ""', limit: 1 };
  const policy = callOf(select, upload);
  const limited = { ...policy, timeout: { ...policy.timeout, targetMs: 10 * MINUTE } };

  const run = await world.ended(await world.fire(limited));

  expect(await world.targets(run)).toMatchObject([expected]);
});

test('work that a job follows until a time is looked at when the service is back, and not ended unseen meanwhile', async () => {
  const world = await worldOfTest({ sites: 1, work: false });
  const { caretaker, clock, sandbox } = world;
  const run = await world.fire(callOf({ from: 'listSites' }, upload));
  const watch = { kind: 'task', taskId: 'task-1', since: clock.now(), until: clock.now() };
  const one = { run, target: { id: 'site-0001' }, watch } as unknown as Followed;
  const look = () => lastLooks(partsOf(caretaker), [{ one }], new AbortController().signal);
  sandbox.outage.begin('status-503');

  expect(await look()).toEqual([]);
  clock.leap(5 * MINUTE);
  expect(await look()).toMatchObject([{ verdict: { is: 'unclear' } }]);
});
