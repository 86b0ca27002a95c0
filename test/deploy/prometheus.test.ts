/** The alert rules. The long tests also evaluate them, and the queries of the Grafana dashboard. */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { hasProgram, outputOf } from './programs.ts';
import { deploy, read, rules } from './prometheus.ts';

test('every alert has a test in which it fires, and one in which it stays silent', () => {
  const { tests } = parse(read('prometheus/alerts.test.yaml'));
  const named = tests.map(({ name }: { name: string }) => name);
  expect(named).toEqual(rules.flatMap(({ alert }) => [`${alert} fires`, `${alert} stays silent`]));
  for (const { name, promql_expr_test: checks } of tests) {
    const [alert] = name.split(' ');
    for (const { expr, exp_samples: samples } of checks) {
      expect(expr).toBe(`ALERTS{alertname="${alert}", alertstate="firing"}`);
      expect({ name, fires: samples.length }).toEqual({ name, fires: name.endsWith(' fires') ? 1 : 0 });
    }
  }
});

test.skipIf(!hasProgram('promtool', 'the alert rules are not checked'))('promtool accepts the rules', () => {
  expect(outputOf('promtool', ['check', 'rules', 'alerts.yaml'], join(deploy, 'prometheus'))).toContain(
    `SUCCESS: ${rules.length} rules found`,
  );
});
