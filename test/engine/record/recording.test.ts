import { expect, test } from 'vitest';
import { siteSync } from '../../../jobs/site-sync/job.ts';
import { entriesOn, linesOn, notesOn, openWorld, recording, runAndRecord } from './recording.ts';

const all = siteSync.options.parse({ mode: 'all' });

test('a site whose work was done gets one custom work entry and one living note', async () => {
  const world = await openWorld();
  const run = await runAndRecord(world, recording({ options: all }));

  expect(run.recordings).toMatchObject({ wanted: 2, recorded: 2, failed: 0, left: 0 });
  expect(entriesOn(world)).toEqual([
    {
      title: 'Monthly maintenance',
      description: expect.stringMatching(/^Ref\. [0-9A-Z]{8}$/),
      performedOn: '2026-11-21',
    },
  ]);
  expect(linesOn(world)).toEqual([expect.stringMatching(/^2026-11-21 12:0\dZ done \(2026/)]);
  expect(notesOn(world)[0]).toBe(
    `[Caretaker, nightly-sync: last runs]\n${linesOn(world)[0]}\n[Caretaker, nightly-sync: end. Write above or below; this part is replaced.]`,
  );
});
