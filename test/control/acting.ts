/** Who acts in the tests of this folder, and what the audit log says of it. */
import type { Principal } from '../../src/access/principal.ts';
import type { Actor } from '../../src/control/command.ts';
import type { AuditLine } from '../../src/records/audit-store.ts';
import type { World } from '../support/caretaker.ts';

export const actor = (grants: Principal['grants'], name = 'anna'): Actor => ({
  ...{ principal: { kind: 'user', name, grants }, from: '192.0.2.1' },
});
export const viewer = actor([{ role: 'viewer' }]);
export const operator = actor([{ role: 'operator' }]);
export const admin = actor([{ role: 'admin' }]);

/** The lines of the audit log, oldest first. */
export async function auditLines({ caretaker }: World): Promise<AuditLine[]> {
  const found: AuditLine[] = [];
  for await (const { line } of caretaker.records.audit.newestFirst({})) found.unshift(line);
  return found;
}
