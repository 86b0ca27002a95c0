/** What the overview shows of the next 24 hours. */
import { expect, test } from 'vitest';
import { readAhead } from '../../src/dashboard/queries/ahead.ts';
import type { Reader } from '../../src/dashboard/queries/reader.ts';
import { aPolicy, aSchedule } from '../support/builders.ts';

const HOUR = 3_600_000;
const NOON = Date.UTC(2026, 10, 24, 12);

test('a policy of more times than are shown one by one is shown in every hour that has some, to the end', async () => {
  const reader = { runs: async () => [] } as unknown as Reader;
  const often = (cron: string) => aPolicy({ name: cron, schedule: aSchedule({ cron: [cron] }) });
  const policies = [often('* * * * *'), often('*/5 8-19 * * *'), often('*/15 * * * *')];

  const { policies: shown } = await readAhead(reader, policies, new Map(), { now: NOON, ms: 24 * HOUR });
  const blocksOf = (name: string) => shown.find(({ policy }) => policy.name === name)?.blocks ?? [];

  expect(blocksOf('* * * * *').map(({ from, ms }) => from + ms)).toEqual(
    Array.from({ length: 24 }, (_, hour) => NOON + (hour + 1) * HOUR),
  );
  expect(blocksOf('*/5 8-19 * * *').filter(({ isMany }) => isMany)).toHaveLength(12);
  expect(blocksOf('*/15 * * * *').map(({ isMany }) => isMany)).toEqual(Array(96).fill(false));
});
