/** Notices about policy files that break and are fixed, once for all processes that read them. */
import { basename } from 'node:path';
import { isPolicyFile } from '../policy/load-policies.ts';
import type { PolicyWatcher } from '../policy/policy-watcher.ts';
import type { Records } from '../records/records.ts';
import { placeOf, shortFile } from '../yaml/diagnostic.ts';

/**
 * A file counts as fixed when no process has seen an error in it for this long: processes read a changed file some
 * seconds apart, and other machines may get it later.
 */
export const FIXED_AFTER_MS = 30_000;
const PREFIX = 'policy-file ';

/** Costs one request to Redis, and one for each file that is broken or was. */
export async function noteBrokenFiles(
  { alerts }: Pick<Records, 'alerts'>,
  watcher: Pick<PolicyWatcher, 'findings' | 'kept' | 'policies'>,
  at: number,
): Promise<void> {
  const broken = new Map<string, string>();
  for (const finding of watcher.findings().toReversed())
    broken.set(
      shortFile(finding.file),
      `${placeOf(finding)}: ${finding.message} ${activeOf(finding.file, watcher)}`,
    );
  for (const [file, error] of broken)
    await alerts.raise(PREFIX + file, {
      type: 'system',
      event: 'policy-file-broken',
      at,
      detail: `${named(file)} has errors: ${error}`,
    });
  for (const alert of await alerts.names(PREFIX)) {
    const file = alert.slice(PREFIX.length);
    if (broken.has(file)) continue;
    const detail = `${named(file)} has no errors any more.`;
    await alerts.clear(alert, at - FIXED_AFTER_MS, {
      type: 'system',
      event: 'policy-file-fixed',
      at,
      detail,
    });
  }
}

const named = (file: string): string =>
  `The policy ${isPolicyFile(basename(file)) ? 'file' : 'folder'} ${file}`;

/** What is active of a file with errors. Of a folder that cannot be read, all policies are kept. */
function activeOf(file: string, { kept, policies }: Pick<PolicyWatcher, 'kept' | 'policies'>): string {
  if (kept().some((one) => one.file === file))
    return 'Policies that cannot be read stay active as they were before.';
  if (policies().some((one) => one.file === file)) return 'Only its policies without errors are active.';
  return 'None of its policies is active.';
}
