/** Saved plans on the command line: real commands in a folder of their own, against a sandbox and Redis. */
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openCaretaker } from '../../src/app/caretaker.ts';
import { readSavedPlan } from '../../src/cli/saved-plan-file.ts';
import { loadSettings } from '../../src/settings/load-settings.ts';
import { keptLog } from '../support/quiet.ts';
import { sandboxOfFile } from './desk-of-file.ts';

const { sandbox, desk } = await sandboxOfFile({ sites: 3, speed: 100 });
for (const id of sandbox.siteIds()) sandbox.site(id).connect();
const notes = (name: string, where: string) =>
  `  - name: ${name}\n    job: api-call\n    select: { from: listSites, where: '${where}' }\n    with: { operation: createSiteNote, body: { note: { content: Hello } } }\n`;
desk.write(
  'config/policies/notes.yaml',
  `policies:\n${notes('notes', 'site.id != ""')}${notes('none', 'site.id == ""')}${notes('batches', 'site.id != ""')}    rollout: { batches: [1, 50%] }\n`,
);

const sent = () => sandbox.journal.effectsOf('createSiteNote').length;

test('a plan is saved for its owner alone, shown without the service, applied once, and refused the second time', async () => {
  const planned = await desk.run(['plan', 'notes', '--out', 'friday.plan']);
  expect(planned).toMatchObject({
    code: 0,
    stderr: expect.stringMatching(/^Saved as friday\.plan: 3 requests for 3 targets\./m),
  });
  expect(statSync(join(desk.folder, 'friday.plan')).mode & 0o777).toBe(0o600);
  expect(sent()).toBe(0);

  const away = { CARETAKER_BASE_URL: 'http://127.0.0.1:9/api/v6', REDIS_URL: 'redis://127.0.0.1:9' };
  const shown = await desk.run(['plan', '--show', 'friday.plan'], away);
  expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('createSiteNote 3') });

  const unasked = await desk.run(['apply', 'friday.plan']);
  expect(unasked).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('there is no terminal to ask for confirmation'),
  });
  const other = await desk.run(['apply', 'friday.plan', '--yes'], away);
  expect(other.code).not.toBe(0);
  expect(sent()).toBe(0);

  const applied = await desk.run(['apply', 'friday.plan', '--yes', '--json']);
  expect(applied.code).toBe(0);
  const { run, counts } = JSON.parse(applied.stdout);
  const { hash } = JSON.parse(readFileSync(join(desk.folder, 'friday.plan'), 'utf8'));
  expect(run).toMatch(new RegExp(`^notes\\..*-plan-${hash.slice(0, 12)}$`));
  expect(counts).toMatchObject({ succeeded: 3 });
  expect(sent()).toBe(3);

  const again = await desk.run(['apply', 'friday.plan', '--yes']);
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining(`by the run ${run}`) });
  expect(again.stderr).toContain('[ALREADY_APPLIED]');
  expect(sent()).toBe(3);
});

test('applying a plan again whose run was interrupted says that it is not over, and continues it', async () => {
  await desk.run(['plan', 'notes', '--out', 'cut.plan']);
  const before = sent();
  const env = {
    CARETAKER_BASE_URL: sandbox.url,
    CARETAKER_API_TOKEN: sandbox.token,
    REDIS_URL: (await desk.keepRedis()).redis.where,
  };
  const killed = await openCaretaker({
    settings: loadSettings({ cwd: desk.folder, env }),
    log: keptLog(),
  });
  const { id } = await killed.engine.apply(readSavedPlan(join(desk.folder, 'cut.plan')), {});
  await killed.close();

  const { code, stderr } = await desk.run(['apply', 'cut.plan', '--yes']);

  expect(stderr).toContain(`its run ${id} is not over (queued): it is continued.`);
  expect(code).toBe(0);
  expect(sent()).toBe(before + 3);
});

test('a plan whose run works in batches says so before it is applied', async () => {
  await desk.run(['plan', 'batches', '--out', 'batches.plan']);
  const { stdout } = await desk.run(['plan', '--show', 'batches.plan']);
  expect(stdout).toContain('Its run works in batches: 1 target, then 50%, then the rest.');
});

test('a file that was edited or cut is refused, and nothing is sent', async () => {
  await desk.run(['plan', 'notes', '--out', 'monday.plan']);
  const text = readFileSync(join(desk.folder, 'monday.plan'), 'utf8');
  desk.write('edited.plan', text.replace('Hello', 'Goodbye'));
  desk.write('cut.plan', text.slice(0, text.length / 2));
  const before = sent();
  for (const [file, why] of [
    ['edited.plan', 'was changed after it was planned'],
    ['cut.plan', 'is not JSON, or not all of it'],
  ] as const) {
    for (const command of [
      ['apply', file, '--yes'],
      ['plan', '--show', file],
    ]) {
      const { code, stderr } = await desk.run(command);
      expect({ command, code, stderr }).toMatchObject({
        code: 2,
        stderr: expect.stringMatching(new RegExp(`^error: ${file} .*${why}.* \\[SAVED_PLAN\\]\\n$`)),
      });
    }
  }
  expect(sent()).toBe(before);
});

test.each([
  [['plan', 'notes'], 2],
  [['plan', 'notes', '--out', 'some.plan'], 2],
  [['plan', 'none'], 0],
  [['plan', 'none', '--out', 'none.plan'], 0],
  [['plan', 'nothing'], 1],
  [['plan', '--show', 'missing.plan'], 1],
])('%j with --detailed-exitcode ends with %d', async (command, code) => {
  const ended = await desk.run([...command, '--detailed-exitcode']);
  expect({ code: ended.code, stderr: ended.stderr }).toMatchObject({ code });
});
