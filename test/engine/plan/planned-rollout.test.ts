/** The batches and the approval that a plan shows are those that the run then has. */
import { expect, test } from 'vitest';
import { apiCall } from '../../../jobs/api-call/job.ts';
import { toPlanReport, toPreview } from '../../../src/engine/plan/plan-report.ts';
import { lastApproval } from '../../../src/run/rollout.ts';
import { aPolicy } from '../../support/builders.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';
import { worldOfTest } from '../../support/world-of-test.ts';

const world = () => worldOfTest({ before: quickSyncs, sites: 9, speedUp: 240 });

const rollout = {
  batches: [{ where: 'site.id == "site-0005"' }, { percent: 30 }, { count: 2 }],
  pauseMs: 3_600_000,
  maxFailed: { count: 0 },
  waitWhenClosedMs: 0,
};

test('a plan shows the batches, the first targets and the approval that the run then has', async () => {
  const w = await world();
  const policy = aPolicy({
    rollout,
    approval: {
      when: { overTargets: 8 },
      by: ['anna'],
      expiresMs: 3_600_000,
      separate: true,
      eachBatch: true,
    },
  });

  const preview = await w.caretaker.engine.preview(policy);

  const others = preview.targets.map(({ id }) => id).filter((id) => id !== 'site-0005');
  expect(others).toHaveLength(8);
  expect(preview.batches?.map(({ first }) => first.map(({ id }) => id))).toEqual([
    ['site-0005'],
    others.slice(0, 3),
    others.slice(3, 5),
    others.slice(5),
  ]);
  const why = 'It has 9 targets, more than 8.';
  expect(preview.approval).toEqual({
    ...{ why, by: ['anna'], expiresMs: 3_600_000, separate: true, eachBatch: true },
  });
  expect(toPreview(toPlanReport(preview))).toMatchObject({
    batches: preview.batches,
    approval: preview.approval,
  });

  const run = await w.ended(await w.fire(policy), ({ status }) => status === 'awaiting-approval');
  expect(run.rollout?.batches).toEqual(preview.batches?.map(({ takes, targets }) => ({ takes, targets })));
  expect(lastApproval(run)).toMatchObject({ why, to: 1 });
  const second = await w.caretaker.records.batches.laterIds(run.id, 2);
  expect(second).toEqual(preview.batches?.[1]?.first.map(({ id }) => id));
});

test('a plan without targets, or of a policy without both, shows no batches and no approval', async () => {
  const w = await world();
  const { preview } = w.caretaker.engine;
  const none = await preview(
    aPolicy({
      rollout,
      approval: { when: 'always', expiresMs: 1 },
      select: { filters: {}, where: 'site.id == "no-such-site"' },
    }),
  );
  expect(none.targets).toEqual([]);
  for (const shown of [none, await preview(aPolicy())])
    expect(toPlanReport(shown)).toMatchObject({ batches: null, approval: null });
});

test.each([
  ['few targets are read one by one', [{ count: 2 }, { count: 3 }], { sites: 9 }],
  ['many targets are read from their list', [{ percent: 50 }, { percent: 100 }], { sites: 120 }],
] as const)(
  'a plan shows what gates and the look at the next targets cost: %s',
  async (_, batches, options) => {
    const w = await worldOfTest(options);
    const note = { operation: 'createSiteNote', body: { note: { content: 'Maintenance begins.' } } };
    const policy = aPolicy({
      job: 'api-call',
      select: { from: 'listSites', filters: {} },
      options: apiCall.options.parse(note),
      rollout: { ...rollout, batches: [...batches], pauseMs: 0, healthy: 'site.id != ""' },
    });

    const preview = await w.caretaker.engine.preview(policy);
    const { cost } = preview;
    const run = await w.ended(await w.fire(policy));

    expect(run.status).toBe('succeeded');
    expect(cost.checks).toBeGreaterThan(3);
    const listed = run.requestsByOperation?.['listSites'] ?? 0;
    const { planning, checks = 0 } = cost;
    // A list is not read to its end once it has shown all that are asked about.
    expect([planning + checks, planning + checks - 1]).toContain(listed);
    expect(toPreview(toPlanReport(preview))).toMatchObject({ cost: { checks: cost.checks } });
  },
);
