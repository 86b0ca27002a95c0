/** What a test's items are completed with is an item as the service shows it. */
import { expect, test } from 'vitest';
import { type ListId, operationOf } from '../../src/contract/operations.ts';
import { published } from '../../src/contract/schema.ts';
import { listIds } from '../../src/offline/inventory/inventory.ts';
import { givenReads } from '../../src/offline/tests/given-reads.ts';
import { healthyItems, timesAt } from '../../src/offline/tests/healthy-items.ts';

const NOON = Date.parse('2026-11-21T12:00:00Z');

test.each(listIds)('a healthy item shows every field of %s, and no other', (id: ListId) => {
  const { answer, list } = operationOf(id);
  const item = healthyItems[id]('item-1', timesAt(NOON));
  const meta = { pagination: { page: 1, perPage: 100, totalPages: 1, totalItems: 1 } };

  const page = { [list?.key ?? '']: [item], ...(list?.paged ? { meta } : {}) };

  expect(answer && published(answer).safeParse(page).error?.issues).toBeUndefined();
});

test.each([
  { list: 'listSites', view: 'showSite', parameter: 'site_id' },
  { list: 'listReportTemplates', view: 'showReportTemplate', parameter: 'report_template_id' },
  { list: 'listClients', view: 'showClient', parameter: 'client_id' },
] as const)('$view shows a given item of $list with everything', async ({ list, view, parameter }) => {
  const reads = givenReads({ [list]: [{ id: 'one' }] }, NOON);

  const shown = await reads.view(view, { [parameter]: 'one' });

  const { answer } = operationOf(view);
  expect(answer && published(answer).safeParse(shown).error?.issues).toBeUndefined();
  await expect(reads.view(view, { [parameter]: 'two' })).rejects.toThrow('the account has no such item');
});
