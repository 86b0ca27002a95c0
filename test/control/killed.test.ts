/** An act whose process dies (SIGKILL) between its line, its effect, its result and its stored answer. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { localPrincipal } from '../../src/access/principal.ts';
import { auditLog } from '../../src/control/audit-log.ts';
import { carryOutOnce } from '../../src/control/carry-out.ts';
import { runPolicy } from '../../src/control/commands/run-policy.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld, type World } from '../support/caretaker.ts';

let world: World;
beforeEach(async () => {
  world = await startWorld({ sites: 1, work: false, speedUp: 1, from: Date.now() });
});
afterEach(() => world.stop());

const policy = aPolicy({ name: 'sync', job: 'site-sync' });

/** Carries out the act in a process of its own that dies at the step. */
async function die(cut: 'before-act' | 'after-act' | 'after-result'): Promise<void> {
  const file = fileURLToPath(new URL('./dying-act.mjs', import.meta.url));
  const { settings } = world.caretaker;
  const child = spawn(process.execPath, [file, JSON.stringify({ settings, policy, cut })], {
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const [, signal] = (await once(child, 'close')) as [number | null, string | null];
  expect(signal).toBe('SIGKILL');
}

/** Repeats the request in this process. */
const repeat = () => {
  const deps = { ...world.caretaker, policy: () => policy, needAccount: () => undefined };
  const by = {
    principal: { kind: 'user', name: 'anna', grants: [{ role: 'admin' }] },
    from: '192.0.2.1',
  } as const;
  return carryOutOnce(runPolicy, deps, { policy: 'sync' }, by, 'key-1');
};

const acts = async () =>
  (await auditLog(world.caretaker.records, { limit: 10 }, localPrincipal('me'))).lines.map(
    ({ what, result }) => `${what} ${result}`,
  );
const runs = () => world.caretaker.records.runs.list({ limit: 10 });

test('an act that happened has its line, although its process died before the result', async () => {
  await die('after-act');
  expect(await runs()).toHaveLength(1);
  expect(await acts()).toEqual(['policies.run requested']);
});

test('an act that did not happen has its line too, when its process died before it', async () => {
  await die('before-act');
  expect(await runs()).toEqual([]);
  expect(await acts()).toEqual(['policies.run requested']);
});

test.each(['before-act', 'after-act', 'after-result'] as const)(
  'when the process dies %s, a repeated request makes no second run',
  async (cut) => {
    await die(cut);
    // At first, the process that died is taken for one that is still at work.
    await expect(repeat()).rejects.toMatchObject({ code: 'KEY_BUSY' });
    world.clock.leap(31_000);

    const answer = await repeat();

    const [run, ...others] = await runs();
    expect(others).toEqual([]);
    expect(answer).toMatchObject({ run: { run: run?.id } });
    expect(await repeat()).toEqual(answer);
    expect((await acts()).at(0)).toBe('policies.run done');
  },
);
