/** docs/reliability.md has a row for every operation that makes a change; `npm run docs` writes them. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { type OperationId, operationOf, operations } from '../../src/contract/operations.ts';
import type { OnceId } from '../../src/job/reconcile/find-effect.ts';
import { probes } from '../../src/job/reconcile/probes.ts';
import { looksForState } from '../../src/job/reconcile/wanted-state.ts';
import { withRows } from './table.ts';

const page = readFileSync(join(resolve(import.meta.dirname, '../..'), 'docs/reliability.md'), 'utf8');

const rowOf = (id: OperationId): string => {
  const { looksFor, unknown = 'Nothing.' }: ReturnType<typeof looksForState> =
    operationOf(id).effect === 'once' ? probes[id as OnceId] : looksForState(id);
  return `| \`${id}\` | ${looksFor} | ${unknown} |`;
};

test('every operation that makes a change is on the page, with what is looked for and what stays unknown', async () => {
  const changing = (Object.keys(operations) as OperationId[]).filter((id) => operationOf(id).effect);
  await expect(withRows(page, '<!-- changes: ', changing.map(rowOf))).toMatchFileSnapshot(
    '../../docs/reliability.md',
  );
});
