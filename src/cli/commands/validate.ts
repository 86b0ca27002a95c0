import { loadJobs } from '../../app/load-jobs.ts';
import { emptyFolder, loadPolicies } from '../../policy/load-policies.ts';
import { NoConfigError } from '../../settings/load-settings.ts';
import { type Settings, warningsOf } from '../../settings/settings.ts';
import { type Diagnostic, InvalidFilesError, shortFile } from '../../yaml/diagnostic.ts';
import { type GlobalOptions, printFindings, printIgnored, printWarnings, readSettings } from '../context.ts';
import { exit } from '../exit.ts';
import { show } from '../output/show.ts';
import type { Terminal } from '../output/terminal.ts';

/** Checks the configuration and the policies. Uses neither Redis nor the service. */
export async function validate(terminal: Terminal, files: string[], options: GlobalOptions): Promise<number> {
  const findings: Diagnostic[] = [];
  let settings: Settings | undefined;
  try {
    settings = readSettings(terminal, options);
  } catch (error) {
    if (error instanceof InvalidFilesError) findings.push(...error.findings);
    // Policy files can be checked without a configuration.
    else if (!(error instanceof NoConfigError) || files.length === 0) throw error;
    else
      terminal.message(
        'No configuration found, so the names of accounts and receivers of notifications are not checked.',
      );
  }
  // Without a valid configuration, the policies folder is unknown. Named files can still be read.
  const registry = await loadJobs();
  const named = files.length > 0 ? { files } : {};
  const read =
    settings || files.length > 0
      ? loadPolicies({ dir: settings?.policiesDir ?? '.', registry, settings, ...named })
      : { policies: [], findings: [], warnings: [], ignored: [], files: 0 };
  findings.push(...read.findings);
  if (settings && files.length === 0 && read.files === 0 && read.findings.length === 0)
    findings.push(emptyFolder(settings.policiesDir));
  const { ignored } = read;
  // The names of all policies are known only when every file was read.
  const isComplete = files.length === 0 && read.findings.length === 0;
  const ofConfig = settings
    ? warningsOf(
        isComplete ? settings : { ...settings, policyMentions: [] },
        read.policies.map(({ name }) => name),
      )
    : [];
  const warnings: Diagnostic[] = [...ofConfig, ...read.warnings];
  const text = () => {
    printFindings(findings, terminal);
    if (findings.length > 0 && warnings.length > 0) terminal.message('');
    printWarnings(warnings, terminal);
    printIgnored(read.ignored, terminal);
    if (findings.length === 0) printOk(terminal, settings, read.policies.length, files);
  };
  await show(terminal, options, {
    value: { policies: read.policies.map(({ name }) => name), findings, warnings, ignored },
    rows: [
      ...findings.map((one) => ({ severity: 'error', ...one })),
      ...warnings.map((one) => ({ severity: 'warning', ...one })),
    ],
    columns: ['severity', 'file', 'line', 'column', 'path', 'message', 'suggestion'],
    text,
  });
  return findings.length > 0 ? exit.badInput : exit.ok;
}

function printOk(
  { paint, message }: Terminal,
  settings: Settings | undefined,
  count: number,
  files: readonly string[],
): void {
  const parts = [
    ...(settings?.file === undefined ? [] : [shortFile(settings.file)]),
    // If only the configuration file is named, no policies are checked.
    ...(count === 0 ? [] : [`${count} ${count === 1 ? 'policy' : 'policies'}`]),
  ];
  message(`${paint('green', 'ok')}: ${parts.join(' and ')}.`);
  if (count > 0) return;
  const none =
    files.length > 0
      ? 'No policy was checked, because no policy file was named.'
      : `There are no policies in ${shortFile(settings?.policiesDir ?? '.')}.`;
  message(`${paint('yellow', 'warning')}: ${none}`);
}
