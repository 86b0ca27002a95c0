/**
 * `requested`: written before the act, so that an act that happened always has a line. `done`, `failed`: its
 * result. `refused`: nothing was done, because the role of who asked, the input or the present state does not allow it.
 */
export const auditResults = ['requested', 'done', 'refused', 'failed'] as const;
export type AuditResult = (typeof auditResults)[number];
