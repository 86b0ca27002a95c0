import { describe, expect, test } from 'vitest';
import { startCalling } from './calling.ts';

const SECOND = 1000;

/** A task over two sites that runs for a hundred seconds. */
async function startWithTask(ends: 'completed' | 'failed' | 'aborted' = 'completed') {
  const calling = await startCalling({ sites: 2 });
  const input = calling.sandbox.siteIds().map((id) => ({ id }));
  const id = calling.sandbox.startTask({ type: 'restore', input, takesMs: 100 * SECOND, ends });
  const show = async () => (await calling.get(`/tasks/${id}`)).body.task;
  return { ...calling, id, show };
}

describe('a task', () => {
  test.each(['failed', 'aborted'] as const)('that is %s says so down to the step', async (end) => {
    const { clock, show } = await startWithTask(end);
    await clock.advance(200 * SECOND);
    const { status, details } = await show();
    expect(status).toBe(end);
    expect(details.sites.map((site: { status: string }) => site.status)).toEqual(['completed', end]);
    const last = details.sites[1].steps.at(-1);
    expect(last).toMatchObject({ status: end, error: { code: `step_${end}` } });
    expect(details.sites[0].steps[0].error).toEqual({});
  });
});

describe('the list of tasks', () => {
  test('has ended and running ones from the start, filtered by status and type', async () => {
    const { get, ids } = await startCalling();
    const { tasks } = (await get('/tasks')).body;
    const statuses = new Set(tasks.map((task: { status: string }) => task.status));
    expect(statuses).toEqual(new Set(['completed', 'failed', 'aborted', 'running']));
    expect(tasks[0]).not.toHaveProperty('details');

    const updates = await ids('/tasks?filters[type:eq]=wp_site_update');
    const running = await ids('/tasks?filters[status:eq]=running&filters[type:eq]=wp_site_update');
    expect(updates.length).toBeGreaterThanOrEqual(3);
    expect(running).toEqual([updates[0]]);
  });

  test('follows the tasks as they end', async () => {
    const { clock, ids } = await startCalling();
    expect(await ids('/tasks?filters[status:eq]=running')).toHaveLength(2);
    await clock.advance(3 * 3600 * SECOND);
    expect(await ids('/tasks?filters[status:eq]=running')).toEqual([]);
  });
});
