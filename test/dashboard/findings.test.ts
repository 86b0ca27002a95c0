/** What the page of a run shows about its findings. */
import { afterEach, expect, test } from 'vitest';
import { aRun, remember, startWorld, type World } from './world.ts';

let world: World;
afterEach(() => world.stop());

const textOf = (html: string) => html.replace(/<[^>]+>/g, '').replace(/\s+/g, ' ');

test('the page of a run names the findings that are new and those that are resolved, and links their targets', async () => {
  world = await startWorld();
  const ask = await world.signedIn();
  const found = { label: 'a.example', about: 'site', severity: 'error', since: 1 } as const;
  const findings = {
    ...{ open: 5, new: 12, resolved: 1 },
    firstNew: [{ ...found, target: 'site-0001', message: 'No <i>backup</i> for 3 days' }],
    firstResolved: [{ ...found, target: 'site-0002', label: 'b.example', message: 'It was hacked' }],
  };
  await remember(world.records, aRun({ findings }), []);

  const html = await (await ask(`/runs/${aRun().id}`)).text();

  expect(textOf(html)).toContain('5 open, 12 new, 1 resolved');
  expect(textOf(html)).toContain('New: error a.example (site): No &lt;i&gt;backup&lt;/i&gt; for 3 days');
  expect(textOf(html)).toContain('Resolved: error b.example (site): It was hacked');
  expect(textOf(html)).toContain('and 11 more');
  expect(html).toContain('href="/targets/default/site-0002"');
});
