/** Section 4.8 and the task row of section 3. */
import { expect } from 'vitest';
import { casesOfFile, HOUR, MINUTE, SECOND, type Tools } from './harness.ts';
import { listCases, moment } from './list-cases.ts';

const { conform, conformHeld } = casesOfFile('4.8 Tasks');
listCases(conform, {
  path: '/tasks',
  key: 'tasks',
  filters: {
    status: {
      operators: ['eq'],
      wrong: 'queued',
      try: ['running', 'completed', 'cancelled'],
    },
    type: { operators: ['eq'], wrong: 'tidy_up', try: ['wp_site_update', 'settingop'] },
    created_at: moment,
    updated_at: moment,
  },
  sorts: ['created_at', 'updated_at', 'status'],
  defaultSort: 'created_at,desc',
  timezone: true,
});

conform('showTask answers the task with details.sites, which lists leave out', async ({ call, need }) => {
  const listed = await need('/tasks?filters[status:eq]=completed');
  expect(listed).not.toHaveProperty('details');
  const { status, body } = await call('GET', `/tasks/${listed.id}`);
  expect(status).toBe(200);
  const { details, ...rest } = body.task;
  expect(rest).toEqual(listed);
  expect(details.sites.length).toBe(listed.progress.metrics.sites.total);
});

conform('a task that has ended cannot be cancelled (422)', async ({ call, need }) => {
  for (const status of ['completed', 'failed']) {
    const { id } = await need(`/tasks?filters[status:eq]=${status}`);
    const before = (await call('GET', `/tasks/${id}`)).body;
    expect((await call('POST', `/tasks/${id}/cancel`)).status).toBe(422);
    expect((await call('GET', `/tasks/${id}`)).body).toEqual(before);
  }
});

conform('2.10 Task: input of type wp_site_update has options and plugins by site', async ({ call, need }) => {
  const { id } = await need('/tasks?filters[type:eq]=wp_site_update');
  const { input } = (await call('GET', `/tasks/${id}`)).body.task;
  for (const site of input.sites) {
    expect(site).toEqual({
      id: expect.any(String),
      options: {
        backup: expect.any(Boolean),
        visual_regression: expect.any(Boolean),
        sandbox: expect.any(Boolean),
      },
      plugins: expect.any(Array),
    });
  }
});

/** A task over two sites that runs for two minutes. */
async function start({ sandbox }: Tools) {
  const input = ['site-0001', 'site-0002'].map((id) => ({ id }));
  return sandbox().startTask({ type: 'restore', input, takesMs: 2 * MINUTE });
}

conformHeld('3 Task: running, it is cancelled with its remaining sites and steps', async (tools) => {
  const id = await start(tools);
  await tools.time.pass(3 * SECOND + 90 * SECOND);
  const { status, body } = await tools.call('POST', `/tasks/${id}/cancel`);
  expect([status, body.task.status, body.task.progress.percent]).toEqual([200, 'cancelled', 75]);
  type Part = { status: string; steps: { status: string }[] };
  const sites: Part[] = body.task.details.sites;
  expect(sites.map((site) => site.status)).toEqual(['completed', 'cancelled']);
  expect(sites[1]?.steps.map((step) => step.status)).toContain('cancelled');
  expect(tools.sandbox().journal.effectsOf('cancelTask')).toEqual([id]);
  await tools.time.pass(HOUR);
  expect((await tools.call('GET', `/tasks/${id}`)).body).toEqual(body);
  expect((await tools.call('POST', `/tasks/${id}/cancel`)).status).toBe(422);
});

conformHeld('3 Task: initializing can be cancelled too', async (tools) => {
  const id = await start(tools);
  expect((await tools.call('GET', `/tasks/${id}`)).body.task.status).toBe('initializing');
  const { body } = await tools.call('POST', `/tasks/${id}/cancel`);
  expect(body.task.status).toBe('cancelled');
});

conformHeld(
  '2.10 Task: progress goes from 0 to 100 percent and counts the sites that are done',
  async (tools) => {
    const id = await start(tools);
    const show = async () => (await tools.call('GET', `/tasks/${id}`)).body.task;
    expect(await show()).toMatchObject({
      status: 'initializing',
      progress: { percent: 0, metrics: { sites: { done: 0, total: 2 } } },
    });
    await tools.time.pass(3 * SECOND + 90 * SECOND);
    expect(await show()).toMatchObject({
      status: 'running',
      progress: { percent: 75, metrics: { sites: { done: 1, total: 2 } } },
      details: {
        sites: [
          { id: 'site-0001', status: 'completed', progress: { percent: 100 } },
          { id: 'site-0002', status: 'running', progress: { percent: 50 } },
        ],
      },
    });
    await tools.time.pass(MINUTE);
    expect(await show()).toMatchObject({
      status: 'completed',
      updated_at: '2026-11-21T12:02:03.000Z',
      progress: { percent: 100, metrics: { sites: { done: 2, total: 2 } } },
    });
  },
);
