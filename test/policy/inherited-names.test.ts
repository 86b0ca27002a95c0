/**
 * Names that every JavaScript object has are unknown names like any other, wherever an operator may write
 * one.
 */
import { expect, test } from 'vitest';
import { loadJobs } from '../../src/app/load-jobs.ts';
import { entryWith, read } from './p.ts';

const NAMES = ['__proto__', 'constructor', 'hasOwnProperty', 'toString'];

const registry = await loadJobs();
const findingsOf = (lines: string): string[] =>
  read(entryWith(lines), { registry }).findings.map(
    ({ path, message, suggestion = '' }) => `${path} ${message} ${suggestion}`,
  );

test.each(NAMES)('%s is no filter, and the filters there are follow', (name) => {
  const [finding = '', ...more] = findingsOf(
    `job: api-call\nselect: { from: listTags, filters: { ${name}: { eq: x } } }\n` +
      'with: { operation: deleteTag, confirm: deleteTag }',
  );
  expect(finding).toContain(`policies[0].select.filters.${name} `);
  expect(finding).toContain(`"${name}"`);
  expect(finding).toMatch(/available: .*name/);
  expect(more).toEqual([]);
});

test.each(NAMES)('%s is no operator of a filter, and the operators there are follow', (name) => {
  const findings = findingsOf(`job: site-sync\nselect: { filters: { tags: { ${name}: "12" } } }`);
  expect(findings).toHaveLength(1);
  expect(findings[0]).toContain(`policies[0].select.filters.tags.${name} `);
  expect(findings[0]).toMatch(/available: .*in/);
});

test.each(NAMES)('%s is no key of a policy, nor of its options, parameters and bodies', (name) => {
  const places = [
    `job: site-sync\n${name}: 1`,
    `job: site-sync\nschedule: { cron: "0 2 * * *", ${name}: 1 }`,
    `job: site-sync\nwith: { ${name}: 1 }`,
    `job: api-call\nselect: { from: listSites }\nwith: { operation: syncSite, params: { ${name}: x } }`,
    `job: api-call\nselect: { from: listSites }\nwith: { operation: createSiteNote, body: { ${name}: 1, note: { content: x } } }`,
    `job: api-call\nselect: { from: listSites }\nwith: { operation: createSiteNote, body: { note: { content: x, ${name}: 1 } } }`,
  ];
  for (const place of places) {
    const findings = findingsOf(place);
    expect(findings.join('\n'), place).toContain(`.${name} `);
    expect(findings, place).toHaveLength(1);
  }
});

test.each(NAMES)('there is no job, account or list called %s', (name) => {
  for (const line of [`job: ${name}`, `job: api-call\nselect: { from: ${name} }\nwith: { operation: x }`])
    expect(findingsOf(line).length, line).toBeGreaterThan(0);
});

test.each(NAMES)('a condition knows no field %s', (name) => {
  const findings = findingsOf(`job: site-sync\nselect: { where: site.${name} == "x" }`);
  expect(findings).toHaveLength(1);
});
