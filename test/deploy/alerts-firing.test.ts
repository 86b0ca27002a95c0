/**
 * The alerts that matter most fire for what they are about: real daemons, a real service in trouble, and a real Prometheus with the
 * shipped rules. Only the times of the rules are shorter.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';
import { startDaemon } from '../../src/app/daemon.ts';
import { startReceiver } from '../notify/receiver.ts';
import { webhooks } from '../notify/world.ts';
import { aPolicy } from '../support/builders.ts';
import { startWorld } from '../support/caretaker.ts';
import { hasProgram } from './programs.ts';
import { read, startPrometheus } from './prometheus.ts';

const MINUTE = 60_000;
const PASSWORD = 'correct horse battery';

/** The shipped rules, without waiting for a condition to last, over seconds instead of minutes and hours. */
function quickRules(): string {
  const file = parse(read('prometheus/alerts.yaml'));
  for (const { rules } of file.groups)
    for (const rule of rules) {
      delete rule.for;
      rule.expr = rule.expr.replaceAll(/\[\d+[mh]\]/g, '[5s]');
    }
  return JSON.stringify(file);
}

const limits = { concurrency: 20, maxTargets: 1, maxPercent: 100 };
const notify = [
  { on: ['stopped'], to: 'wrong' },
  { on: ['stopped'], to: 'away' },
] as const;
/** It has more targets than its limit allows. */
const limited = aPolicy({
  name: 'limited',
  limits,
  notify: notify.map((one) => ({ ...one, on: [...one.on] })),
});
const asked = aPolicy({ name: 'asked', approval: { when: 'always', expiresMs: 7 * 86_400_000 } });
const plain = aPolicy({ name: 'plain' });

describe.skipIf(!hasProgram('prometheus', 'the alerts are not tried with a daemon in trouble'))(
  'an alert',
  () => {
    test('fires for a daemon, a service, receivers and a Redis in trouble', async () => {
      const folder = mkdtempSync(join(tmpdir(), 'caretaker-alerts-'));
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
      writeFileSync(join(folder, 'rules.yaml'), quickRules());
      writeFileSync(join(folder, 'all.yaml'), 'policies:\n  - { name: limited, job: site-sync }\n');
      const world = await startWorld({
        ...{ sites: 3, work: false, policiesDir: folder, dashboard: { password: PASSWORD } },
      });
      onTestFinished(() => world.stop());
      const { caretaker, sandbox, clock, redis } = world;
      const [wrong, away] = [await startReceiver(404), await startReceiver()];
      await away.close();
      const other = await world.another({ work: false });
      for (const one of [caretaker, other]) one.take({ notifications: webhooks({ wrong, away }) });
      const working = await startDaemon({ caretaker: other, roles: ['scheduler', 'worker'] });
      const serving = await startDaemon({ caretaker, roles: ['dashboard'] });
      const url = serving.dashboard?.url ?? '';
      const prometheus = await startPrometheus(folder, url, PASSWORD, join(folder, 'rules.yaml'));
      const fires = (...alerts: string[]) =>
        Promise.all(
          alerts.map((alert) =>
            prometheus.until(`ALERTS{alertname="Caretaker${alert}", alertstate="firing"}`),
          ),
        );
      await prometheus.until('caretaker_daemons{role="worker"} == 1');
      await prometheus.until('rate(caretaker_run_moves_total{status="stopped"}[5s]) == 0');
      expect(await prometheus.firing()).toEqual([]);

      writeFileSync(join(folder, 'broken.yaml'), 'policies: [{ name: 1 }]\n');
      await world.fire(limited);
      await world.fire(asked);
      await fires(
        'PolicyFileBroken',
        'RunStopped',
        'PoliciesFailing',
        'ApprovalWaiting',
        'NotificationsDead',
      );
      clock.leap(31 * MINUTE);
      await fires('NotificationsWaiting');

      sandbox.outage.begin('status-503');
      await world.fire(plain);
      await fires('RequestsFailing');
      clock.leap(11 * MINUTE);
      await fires('ServiceFailing');
      sandbox.account.changeToken('another-token');
      sandbox.outage.end();
      await fires('AccountBlocked');

      await working.stop();
      await world.fire(plain);
      clock.leap(2 * MINUTE);
      await fires('NoWorker', 'NoScheduler', 'QueueStuck', 'RunsUnsupervised');
      const [queue] = caretaker.queues.boards();
      await queue?.pause();
      await fires('NotWorking');
      await queue?.resume();

      await redis.kill();
      await fires('RedisUnreachable');
      await redis.restart();
      await serving.stop();
      await fires('Absent');
    }, 120_000);
  },
);
