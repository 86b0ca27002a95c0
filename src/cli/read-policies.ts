/** Finds and reads active policies for the command line, here or on a server. */
import type { OpenRecords } from '../app/open-records.ts';
import { listPolicies, showPolicyReport } from '../control/commands/list-policies.ts';
import type { AllPolicies, PolicyDeps } from '../control/policies.ts';
import type { PolicyReport } from '../schedule/policy-report.ts';
import { suggestionFor } from '../suggest.ts';
import type { Reader, RecordReader } from './client.ts';
import { type GlobalOptions, policyNamed, settingsOf } from './context.ts';
import { UsageError } from './exit.ts';
import type { Terminal } from './output/terminal.ts';

type PolicyReader = Reader<OpenRecords & AllPolicies & PolicyDeps>;

/**
 * The active policy with this name on a server.
 *
 * @throws {UsageError} when there is none that the token may see.
 */
export async function policyOnServer(client: RecordReader, name: string): Promise<PolicyReport> {
  const { read, server = '' } = client as PolicyReader;
  try {
    return await read(showPolicyReport, { policy: name }, () => noPolicyOn(server, name, []));
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const { policies } = await read(listPolicies, {}, { policies: [], schedulers: 0 });
    throw noPolicyOn(server, name, policies);
  }
}

export function noPolicyOn(server: string, name: string, policies: readonly PolicyReport[]): never {
  const hint = suggestionFor(
    name,
    policies.map((one) => one.name),
  );
  throw new UsageError(`There is no policy "${name}" on ${server}${hint ? `: ${hint}` : '.'}`);
}

/** @throws {UsageError} {InvalidFilesError} when there is no such policy, here in the files. */
export async function needPolicyNamed(
  client: RecordReader,
  name: string,
  terminal: Terminal,
  options: GlobalOptions,
): Promise<void> {
  if (client.server === undefined) await policyNamed(name, settingsOf(terminal, options), terminal);
  else await policyOnServer(client, name);
}
