/** What a daemon does: fire policies, work on targets, serve the dashboard. */
export const roles = ['scheduler', 'worker', 'dashboard'] as const;
export type Role = (typeof roles)[number];
