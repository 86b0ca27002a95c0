import type { Target } from '../run/run.ts';
import { redact, scrub } from '../secrets.ts';

/**
 * Redacts the texts of a target that come from the service or from an error, which may repeat a credential.
 * The job state is redacted where it is encoded (`jobStateOf`).
 */
export function withoutSecrets(target: Target): Target {
  const clean = { ...target, label: scrub(target.label) };
  const { detail, ended, findings, requests } = target;
  if (detail !== undefined) clean.detail = scrub(detail);
  if (ended?.detail !== undefined) clean.ended = { ...ended, detail: scrub(ended.detail) };
  if (findings !== undefined) clean.findings = redact(findings) as typeof findings;
  if (requests !== undefined) clean.requests = redact(requests) as typeof requests;
  return clean;
}
