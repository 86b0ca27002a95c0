/** docs/approval.md has every destructive operation with its reason. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { isOperationId, operations, whyDestructive } from '../../src/contract/operations.ts';
import { withRows } from './table.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/approval.md'), 'utf8');

test('the table of destructive operations is that of the contract; `npm run docs` writes it', async () => {
  const rows = Object.keys(operations)
    .filter(isOperationId)
    .toSorted()
    .flatMap((id) => {
      const why = whyDestructive(id);
      return why === undefined ? [] : [`| [${id}](api.md#${id.toLowerCase()}) | ${why} |`];
    });
  await expect(withRows(page, '<!-- destructive: ', rows)).toMatchFileSnapshot('../../docs/approval.md');
});
