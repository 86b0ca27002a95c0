/** `record:` with `steps`: what is recorded is the whole work on a target, once. */
import { expect, test } from 'vitest';
import { apiCall } from '../../../jobs/api-call/job.ts';
import { siteSync } from '../../../jobs/site-sync/job.ts';
import { type AStep, aPolicyOf } from '../../support/builders.ts';
import { entriesOn, linesOn, openWorld, recorded, runAndRecord, SITE } from './recording.ts';

const note: AStep = {
  name: 'note',
  job: 'api-call',
  options: apiCall.options.parse({ operation: 'createSiteNote', body: { note: { content: 'Begins.' } } }),
};
const sync: AStep = { name: 'sync', job: 'site-sync', options: siteSync.options.parse({ mode: 'all' }) };
const stale: AStep = { ...sync, options: siteSync.options.parse({ mode: 'stale', max_age: '20h' }) };

const policy = (steps: readonly AStep[]) =>
  aPolicyOf(steps, { record: { customWork: { title: 'Monthly maintenance' }, note: 'living' } });

test('a target whose steps all succeeded is one custom work entry and one line, however many steps made a change', async () => {
  const world = await openWorld();

  const run = await runAndRecord(world, policy([note, sync, note]));

  expect(run).toMatchObject({ status: 'succeeded', recordings: { wanted: 2, recorded: 2, failed: 0 } });
  expect(world.sandbox.journal.countOf('createSiteCustomWorks')).toBe(1);
  expect(entriesOn(world)).toHaveLength(1);
  expect(linesOn(world)).toEqual([expect.stringMatching(/Z done \(/)]);
});

test('a target of which a later step failed is no custom work, although an earlier step made its change; a retry that does the rest is the one entry', async () => {
  const world = await openWorld();
  world.sandbox.site(SITE).failNextSync('disk full');
  const begun = () =>
    world.sandbox
      .site(SITE)
      .notes()
      .filter((content) => content === 'Begins.');

  const failed = await runAndRecord(world, policy([note, sync]));

  expect(failed).toMatchObject({ status: 'failed', recordings: { wanted: 1, recorded: 1 } });
  expect(begun()).toHaveLength(1);
  expect(entriesOn(world)).toEqual([]);
  expect(linesOn(world)).toEqual([expect.stringMatching(/Z failed: .* \(/)]);

  const run = await recorded(world, await world.caretaker.engine.retry(failed.id));

  expect(run).toMatchObject({ status: 'succeeded', retryOf: failed.id });
  expect(begun()).toHaveLength(1);
  expect(entriesOn(world)).toHaveLength(1);
  expect(linesOn(world)).toEqual([
    expect.stringMatching(/Z failed: .* \(/),
    expect.stringMatching(/Z done \(/),
  ]);
});

test('steps of which only the first makes a change are recorded; steps without any change are not', async () => {
  const world = await openWorld();

  await runAndRecord(world, policy([sync, stale]));
  expect(entriesOn(world)).toHaveLength(1);
  const lines = linesOn(world).length;

  const run = await runAndRecord(world, policy([stale, stale]));
  expect(run.status).toBe('succeeded');
  expect(run.recordings).toBeUndefined();
  expect(linesOn(world)).toHaveLength(lines);
});
