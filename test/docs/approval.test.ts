/** docs/approval.md has every destructive operation with its reason, and no other. */
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { isOperationId, operations, whyDestructive } from '../../src/contract/operations.ts';

const page = readFileSync(resolve(import.meta.dirname, '../../docs/approval.md'), 'utf8');

test('the table of destructive operations is that of the contract', () => {
  const rows = [...page.matchAll(/^\| \[(\w+)\]\(api\.md#\w+\) \| (.+) \|$/gm)].map(([, id, why]) => [
    id,
    why,
  ]);
  const declared = Object.keys(operations)
    .filter(isOperationId)
    .flatMap((id) => {
      const why = whyDestructive(id);
      return why === undefined ? [] : [[id, why]];
    });
  expect(Object.fromEntries(rows)).toEqual(Object.fromEntries(declared));
});
