import type { FindingReport } from '../../control/finding-report.ts';
import {
  type AcknowledgeOptions,
  acknowledgementOf,
  collectFindings,
  type FindingsAnswer,
  type FindingsOptions,
  printAcknowledged,
  printUnacknowledged,
  showFindings,
  type UnacknowledgeOptions,
} from '../commands/findings.ts';
import { exit } from '../exit.ts';
import { clockOf } from '../io.ts';
import type { Terminal } from '../output/terminal.ts';
import { asUsage } from './act-on-run.ts';
import { pathOf } from './policies.ts';
import type { Server } from './server.ts';

/** Lists the findings of the server, as far as the token may see them. */
export async function findings(
  terminal: Terminal,
  server: Server,
  _args: string[],
  options: FindingsOptions,
): Promise<number> {
  const found = await collectFindings(options, (input) =>
    server.get<FindingsAnswer>('/findings', input as Record<string, string>),
  );
  await showFindings(found, terminal, options);
  return exit.ok;
}

/** Acknowledges findings of the server. */
export async function acknowledge(
  terminal: Terminal,
  server: Server,
  [policy = '', site = '']: string[],
  options: AcknowledgeOptions,
): Promise<number> {
  const { policy: _, ...input } = acknowledgementOf(policy, site, options, clockOf(terminal.io).now());
  const { findings } = await asUsage(() =>
    server.post<{ findings: FindingReport[] }>(pathOf(policy, 'findings/acknowledge'), input),
  );
  printAcknowledged(findings, terminal);
  return exit.ok;
}

/** Ends acknowledgements of findings of the server. */
export async function unacknowledge(
  terminal: Terminal,
  server: Server,
  [policy = '', site = '']: string[],
  { account, about, reason }: UnacknowledgeOptions,
): Promise<number> {
  const input = { account, site, about, reason };
  const { findings } = await asUsage(() =>
    server.post<{ findings: FindingReport[] }>(pathOf(policy, 'findings/unacknowledge'), input),
  );
  printUnacknowledged(findings.length, terminal);
  return exit.ok;
}
