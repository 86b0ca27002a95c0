/** docs/approval.md has every destructive operation with its reason. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { isOperationId, operations, whyDestructive } from '../../src/contract/operations.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/approval.md'), 'utf8');

test('the table of destructive operations is that of the contract; `npm run docs` writes it', async () => {
  const rows = Object.keys(operations)
    .filter(isOperationId)
    .toSorted()
    .flatMap((id) => {
      const why = whyDestructive(id);
      return why === undefined ? [] : [`| [${id}](api.md#${id.toLowerCase()}) | ${why} |\n`];
    });
  const written = page.replace(/(<!-- destructive: .*\n.*\n.*\n)(?:\|.*\n)*/, `$1${rows.join('')}`);
  await expect(written).toMatchFileSnapshot('../../docs/approval.md');
});
