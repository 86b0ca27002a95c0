import { expect, test } from 'vitest';
import { sandboxOfFile } from './desk-of-file.ts';

const { sandbox, desk } = await sandboxOfFile({ sites: 2 });

test('a deletion that is started while its file is still being written does what the whole file says', async () => {
  for (const id of sandbox.siteIds()) sandbox.staging.make(id, 20);
  const begun = `policies:
  - name: clean
    job: staging-cleanup
    with: { action: delete, older_than: 14d, grace: 0 }
`;
  desk.write('config/policies/clean.yaml', begun);

  const run = desk.start(['run', 'clean']);
  await run.line(/clean\.yaml was changed just now: clean starts when/);
  desk.write('config/policies/clean.yaml', `${begun}    select: { where: 'site.title == "None"' }\n`);

  expect(await run.ended).toMatchObject({ code: 0 });
  expect(sandbox.journal.effectsOf('deleteStagingSite')).toEqual([]);
});
