import { loadJobs } from '../../app/jobs.ts';
import { loadPolicies } from '../../policy/load-policies.ts';
import { type Finding, InvalidFilesError } from '../../settings/finding.ts';
import type { Settings } from '../../settings/settings.ts';
import { type GlobalOptions, sayFindings, settingsOf } from '../context.ts';
import { exit } from '../exit.ts';
import type { Terminal } from '../terminal.ts';

/** Checks the configuration and the policies; asks nothing of Redis or the service. */
export async function validate(terminal: Terminal, files: string[], options: GlobalOptions): Promise<number> {
  const findings: Finding[] = [];
  let settings: Settings | undefined;
  try {
    settings = settingsOf(options);
  } catch (error) {
    if (!(error instanceof InvalidFilesError)) throw error;
    findings.push(...error.findings);
  }
  // Without a usable configuration the folder of the policies is not known, but files that are named can be read.
  const registry = await loadJobs();
  const named = files.length > 0 ? { files } : {};
  const read =
    settings || files.length > 0
      ? loadPolicies({ dir: settings?.policiesDir ?? '.', registry, settings, ...named })
      : { policies: [], findings: [] };
  findings.push(...read.findings);
  if (options.json) terminal.json({ policies: read.policies.map(({ name }) => name), findings });
  else sayFindings(findings, terminal);
  if (findings.length > 0) return exit.badInput;
  if (!options.json) {
    const where = settings?.file ?? 'the built-in defaults';
    terminal.say(`${terminal.paint('green', 'ok')}: ${where} and ${read.policies.length} policies.`);
  }
  return exit.ok;
}
