import type { Target } from '../run/run.ts';
import { redact } from '../secrets.ts';

/**
 * A target whose texts are those of the service, or of an error: they may repeat a credential. The memo stays
 * as it is, since the job goes on by it; jobs put no credential there.
 */
export function withoutSecrets(target: Target): Target {
  const { label, detail, ended, findings } = target;
  return Object.assign({ ...target }, redact({ label, detail, ended, findings }));
}
