/** What `doctor` says about the policies: those of the files, and those that daemons keep active without them. */
import { loadJobs } from '../app/load-jobs.ts';
import { emptyFolder, loadPolicies } from '../policy/load-policies.ts';
import type { PresenceStore } from '../records/presence-store.ts';
import type { Settings } from '../settings/settings.ts';
import { countOf } from '../text.ts';
import { hintOf } from '../yaml/diagnostic.ts';
import { formatKept, keptByDaemons } from './effective-policies.ts';
import type { Check } from './output/service-description.ts';

const what = 'policies';

export async function checkPolicies(settings: Settings): Promise<Check> {
  const dir = settings.policiesDir;
  const { policies, findings, files } = loadPolicies({ dir, registry: await loadJobs(), settings });
  const ofFolder = findings.find(({ file }) => file === dir) ?? (files === 0 ? emptyFolder(dir) : undefined);
  if (ofFolder)
    return { what, state: 'wrong', message: `${dir}: ${ofFolder.message} ${hintOf(ofFolder) ?? ''}`.trim() };
  if (findings.length === 0) return { what, state: 'ok', message: `${policies.length} in ${dir}` };
  const it = findings.length === 1 ? 'it' : 'them';
  return {
    what,
    state: 'wrong',
    message: `${countOf(findings.length, 'error')}: "caretaker validate" shows ${it}`,
  };
}

/** The policies that daemons keep active although their files cannot be read. */
export async function checkKept(presence: PresenceStore, now: number): Promise<Check[]> {
  const kept = await keptByDaemons({ presence }, now);
  return formatKept(kept).map((message) => ({ what: 'policies kept active', state: 'warning', message }));
}
