/** Components that no page of the tests shows in every form. */
import { jsx } from 'hono/jsx';
import { expect, test } from 'vitest';
import { BarChart, StackedAreaChart } from '../../src/dashboard/components/chart.tsx';
import { NowContext } from '../../src/dashboard/components/contexts.tsx';
import { FilterBar, pathWith } from '../../src/dashboard/components/filter-bar.tsx';
import { siteName } from '../../src/dashboard/components/paths.ts';
import { EndsChart } from '../../src/dashboard/components/run-pace.tsx';
import { Time, Took } from '../../src/dashboard/components/time.tsx';
import { Timeline } from '../../src/dashboard/components/timeline.tsx';
import { Yaml } from '../../src/dashboard/pages/policy-definition.tsx';
import { aRun } from './world.ts';

/** What a component shows on a page that is made at a time. */
const renderAt = <Props>(now: number, component: (props: Props) => unknown, props: Props): string =>
  String(jsx(NowContext.Provider, { value: now }, jsx(component as never, props as never)));
const render = (element: unknown): string => String(element);
const textOf = (html: string) => html.replace(/<[^>]*>/g, '|').replace(/\|+/g, '|');

test('YAML has a class for each kind of token, keeps every character, and is escaped', () => {
  const text = 'name: "a <b>" # why\nlist:\n  - 5\n  - key: {x: 1}\n';
  const html = render(Yaml({ text, name: 'policy.yaml', from: 7, marked: [8] }));

  expect(html).toContain('<span class="key">name</span>');
  expect(html).toContain('<span class="text">&quot;a &lt;b&gt;&quot;</span>');
  expect(html).toContain('<span class="comment"># why</span>');
  expect(html).toContain('<span class="value">5</span>');
  expect(html).toContain('<span class="key">x</span>');
  expect(html).toMatch(/class="line marked" data-n="8"/);
  const lines = [...html.matchAll(/data-n="(\d+)">(.*?)(?=<span class="line|<\/code>)/g)];
  expect(lines.map(([, number]) => number)).toEqual(['7', '8', '9', '10']);
  expect(textOf(html).replaceAll('|', '')).toContain('  - key: {x: 1}');
});

test('one bar of another size is drawn cut, so that the others are still seen, and its number is told', () => {
  const chart = (...values: number[]) =>
    render(
      BarChart({
        name: 'Targets',
        series: [{ tone: 'failed', word: 'failed' }],
        columns: values.map((count, at) => ({ label: `0${at}:00`, counts: [count] })),
        axis: [],
        unit: 'targets',
      }),
    );

  expect(chart(10, 39, 20)).toContain('>39 targets<');
  const cut = chart(10, 1_219, 20);
  expect(cut).toContain('>40 targets; the cut bar: 1,219<');
  expect(cut).toContain('y="50" width="8" height="50"');
  expect(cut.match(/class="cut-bar"/g)).toHaveLength(1);
  expect(cut).toContain('<td>1,219</td>');
});

/** Areas of one series, one hour for each count. */
const areasOf = (counts: readonly number[], limit: number): string =>
  render(
    StackedAreaChart({
      name: 'Requests',
      series: [{ tone: 'series-1', word: 'requests' }],
      columns: counts.map((count, at) => ({ label: `2026-11-23 0${at}:00Z`, counts: [count] })),
      axis: [],
      unit: 'requests',
      limit: { value: limit, word: 'limit' },
    }),
  );

test('a chart has its numbers as a table, and its limit', () => {
  const html = areasOf([1, 5], 10);
  expect(html).toContain('points="0,90 1,50 1,100 0,100"');
  expect(html).toMatch(/<line class="limit" x1="0" x2="1" y1="0" y2="0"/);
  expect(textOf(html)).toContain('|2026-11-23 01:00 UTC|5|');
});

test('values that are tiny beside their limit have a scale of their own, which the chart says', () => {
  const html = areasOf([5], 6_000_000);
  expect(html).toContain('points="0,0 0,100"');
  expect(html).not.toContain('<line');
  expect(textOf(html)).toContain('|5 requests; limit: 6,000,000|');
});

test('the axis of a run of seconds has seconds, none of them twice, and its bars are in the same zone', () => {
  const startedAt = Date.UTC(2026, 10, 23, 1);
  const ends = Array.from(
    { length: 5 },
    () => ({ at: startedAt + 500, outcome: 'succeeded', worked: true }) as const,
  );
  const run = (ms: number) =>
    aRun({
      status: 'succeeded',
      startedAt,
      finishedAt: startedAt + ms,
      counts: { planned: 5, succeeded: 5, failed: 0, skipped: 0, cancelled: 0 },
    });
  const axis = (ms: number) =>
    /<div class="axis".*?<\/div>/.exec(render(EndsChart({ run: run(ms), ends })))?.[0] ?? '';
  expect(textOf(axis(3_000)).match(/01:00:\d\d UTC/g)).toEqual([
    '01:00:00 UTC',
    '01:00:01 UTC',
    '01:00:03 UTC',
  ]);
  expect(textOf(axis(900)).match(/01:00:\d\d UTC/g)).toEqual(['01:00:00 UTC']);
  expect(textOf(axis(3_600_000))).toContain('2026-11-23 02:00 UTC');
});

test('a site without an address and a title is named by its id', () => {
  expect(siteName('https://a.example/', '1')).toBe('a.example');
  expect(siteName(' ', '1')).toBe('1');
});

test('a filter that is set has a chip, which leads to the list without it and keeps the rest', () => {
  const filters = [
    { name: 'status', label: 'Status', value: 'failed', options: ['failed', 'succeeded'] },
    { name: 'policy', label: 'Policy', value: 'a&b' },
    { name: 'account', label: 'Account', value: undefined },
  ];
  const html = render(FilterBar({ path: '/runs', filters, keep: { sort: 'next' } }));

  // Else a browser shows what was chosen last, after Back.
  expect(html).toMatch(/<form [^>]*autocomplete="off"/);
  expect(html).toContain('<option value="failed" selected="">');
  expect(html).toContain('href="/runs?sort=next&amp;policy=a%26b"');
  expect(html).toContain('href="/runs?sort=next&amp;status=failed"');
  expect(html).not.toContain('Account: ');
  expect(pathWith('/runs', { status: undefined, policy: '' })).toBe('/runs');
});

test('how long something has lasted is in whole minutes until it ends, so that an open page does not change each second', () => {
  const lasting = (now: number) => textOf(renderAt(now, Took, { from: 0, to: undefined }));
  expect(lasting(59_999)).toBe('|&lt;\u00a01\u00a0min|');
  expect(lasting(60_000)).toBe(lasting(119_999));
  expect(lasting(3_600_000 + 240_000)).toBe('|1\u00a0h 4\u00a0min|');
  expect(renderAt(99_000, Took, { from: 0, to: 61_000 })).toContain('1\u00a0min 1\u00a0s');
});

test('a relative time has the exact one as its title, and entries of a timeline can be opened', () => {
  const time = renderAt(7_200_000, Time, { at: 0, show: 'relative' });
  expect(time).toContain('title="1970-01-01 00:00 UTC"');
  expect(textOf(time)).toBe('|2 h ago|');
  const entries = [{ key: 'a', at: 0, icon: 'play' as const, title: 'Started', details: 'by anna' }];
  expect(textOf(renderAt(7_200_000, Timeline, { entries }))).toMatch(/Started.*2 h ago\|Details\|by anna/);
});
