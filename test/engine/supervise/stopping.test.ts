/** A process that is stopped while the service has received a request and does not respond. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, expect, test } from 'vitest';
import { reportDispatch } from '../../../jobs/report-dispatch/job.ts';
import type { OperationId } from '../../../src/contract/operations.ts';
import type { Policy } from '../../../src/policy/policy.ts';
import { around } from '../../support/between.ts';
import { aPolicy } from '../../support/builders.ts';
import { startWorld, type World } from '../../support/caretaker.ts';
import { quickReports } from '../../support/quick-reports.ts';
import { quickSyncs } from '../../support/quick-syncs.ts';

let world: World;
const folder = mkdtempSync(join(tmpdir(), 'caretaker-stopping-'));
afterEach(() => world.stop());
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Resolves when this process sends the operation and gets no response, the first time that `which` holds. */
function unanswered(operation: OperationId, which: () => boolean = () => true): Promise<void> {
  const { client } = world.caretaker.link('default');
  return new Promise((asked) => {
    let isFirst = true;
    const hang = <T>(call: () => T, id: OperationId): T => {
      if (id !== operation || !isFirst || !which()) return call();
      isFirst = false;
      world.sandbox.failNext({ operation }, 'hang');
      asked();
      return call();
    };
    around(client, 'call', hang);
    around(client, 'download', hang);
  });
}

const reports: Partial<Policy> = {
  job: 'report-dispatch',
  options: reportDispatch.options.parse({
    template: { name: 'Monthly care' },
    period: 'last_week',
    recipients: ['owner@agency.example'],
    archive_dir: join(folder, 'reports'),
  }),
};

test.each<[string, OperationId, Partial<Policy>]>([
  ['plans', 'listSites', {}],
  ['starts a sync', 'syncSite', {}],
  ['follows syncs', 'listSites', {}],
  ['downloads a PDF', 'downloadReport', reports],
])(
  'a process that %s stops within seconds, and the next one continues with nothing lost or used up',
  async (what, operation, policy) => {
    const before = policy === reports ? quickReports : quickSyncs;
    world = await startWorld({ before, sites: 3, work: false, speedUp: 10 });
    const syncs = () => world.sandbox.journal.effectsOf('syncSite').length;
    const asked = unanswered(operation, () => what !== 'follows syncs' || syncs() === 3);
    const run = await world.fire(aPolicy(policy));
    const first = world.caretaker.engine.work(50);
    await asked;
    // The request has been sent by then.
    await world.clock.sleep(1_000);
    const told = world.clock.now();

    await first.stop();

    expect(world.clock.now() - told).toBeLessThan(25_000);
    expect(await world.caretaker.records.runs.get(run.id)).not.toHaveProperty('finishedAt');
    const after = (await world.another({ work: false })).engine.work(50);
    const end = await world.ended(run);
    await after.stop();
    expect(end).toMatchObject({ status: 'succeeded', counts: { succeeded: 3 } });
    expect((await world.targets(run)).map(({ attempts }) => attempts)).toEqual([0, 0, 0]);
    for (const effect of ['syncSite', 'createReport', 'sendReportEmail'] as const) {
      const done = world.sandbox.journal.effectsOf(effect);
      expect(new Set(done).size).toBe(done.length);
      expect([0, 3]).toContain(done.length);
    }
    expect(world.log.lines.filter((line) => /^(warn|error)/.test(line))).toEqual([]);
  },
);
