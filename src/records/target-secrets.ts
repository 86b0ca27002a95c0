import type { Target } from '../run/run.ts';
import { redact } from '../secrets.ts';

/**
 * Redacts the texts of a target that come from the service or from an error, which may repeat a credential.
 * The job state is not changed, because the job continues with it; jobs put no credentials there.
 */
export function withoutSecrets(target: Target): Target {
  const { label, detail, ended, findings } = target;
  return Object.assign({ ...target }, redact({ label, detail, ended, findings }));
}
