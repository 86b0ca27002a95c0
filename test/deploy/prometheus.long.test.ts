/** The alert rules, with promtool; and the Grafana dashboard, with a real Prometheus that scrapes a real daemon. */
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startDaemon } from '../../src/app/daemon.ts';
import { startReceiver } from '../notify/receiver.ts';
import { webhooks } from '../notify/world.ts';
import { folderWith } from '../settings/folder.ts';
import { until } from '../support/caretaker.ts';
import { worldOfTest } from '../support/world-of-test.ts';
import { hasProgram, outputOf } from './programs.ts';
import { deploy, read, rules, startPrometheus } from './prometheus.ts';

interface Panel {
  title: string;
  type: string;
  targets?: { expr: string }[];
}
const panels: Panel[] = JSON.parse(read('grafana/caretaker.json')).panels;
const queries = panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ title, expr })));

describe.skipIf(!hasProgram('promtool', 'the alert rules are not tried'))('promtool', () => {
  test('finds that the rules fire and stay silent as their tests say', () => {
    const folder = join(deploy, 'prometheus');
    expect(outputOf('promtool', ['test', 'rules', 'alerts.test.yaml'], folder)).toContain('SUCCESS');
  });
});

describe.skipIf(!hasProgram('prometheus', 'the queries of the Grafana dashboard are not tried'))(
  'a Prometheus that scrapes a daemon',
  () => {
    test('has data for every panel of the dashboard, and evaluates every alert', async () => {
      const password = 'correct horse battery';
      const folder = folderWith({
        'hourly.yaml':
          'policies:\n  - { name: hourly, job: site-sync, schedule: { cron: "0 * * * *", catchup: 30m }, notify: [{ on: [succeeded], to: ops }] }\n',
      });
      const world = await worldOfTest({
        ...{ sites: 2, work: false, policiesDir: folder, dashboard: { password } },
      });
      const { caretaker } = world;
      const ops = await startReceiver(204);
      caretaker.take({ notifications: webhooks({ ops }) });
      const daemon = await startDaemon({ caretaker, roles: ['scheduler', 'worker', 'dashboard'] });
      onTestFinished(() => daemon.stop());
      const prometheus = await startPrometheus(
        ...[folder, daemon.dashboard?.url ?? '', password],
        join(deploy, 'prometheus/alerts.yaml'),
      );

      // Counters and histograms begin with the first scrape, so that it sees them move.
      // Whether it is 1 depends on the load: at sixty times the speed, half a second counts as thirty.
      await prometheus.until('caretaker_up');
      const { records } = caretaker;
      await until(world, async () => (await records.policies.state('hourly')).cursor !== undefined);
      const HOUR = 3_600_000;
      world.clock.leap((Math.floor(world.clock.now() / HOUR) + 1) * HOUR - world.clock.now());
      const runs = () => records.runs.list({ policy: 'hourly', limit: 1 });
      await until(world, async () => (await runs()).some(({ finishedAt }) => finishedAt !== undefined));
      await ops.untilReceived(1);
      await prometheus.until('rate(caretaker_delivery_delay_seconds_count[1m]) >= 0');
      await prometheus.until('caretaker_target_duration_seconds_count > 0');
      await prometheus.until('sum(rate(caretaker_request_duration_seconds_count[1m])) > 0');

      for (const { title, expr } of queries) {
        const filled = expr.replaceAll('$__rate_interval', '1m').replaceAll('$account', '.*');
        const { error, found } = await prometheus.ask(filled);
        expect({ title, filled, error }).toEqual({ title, filled, error: undefined });
        // Nothing failed here.
        if (!expr.endsWith('> 0')) expect({ title, filled, found: found > 0 }).toMatchObject({ found: true });
      }
      for (const { alert, expr } of rules) {
        const { error } = await prometheus.ask(expr);
        expect({ alert, error }).toEqual({ alert, error: undefined });
        for (const name of expr.match(/\bcaretaker_\w+/g) ?? [])
          expect({ alert, name, found: (await prometheus.ask(name)).found > 0 }).toMatchObject({
            found: true,
          });
      }
      expect(await prometheus.firing()).toEqual([]);
    });
  },
);
