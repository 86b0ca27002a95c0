import { pauseAt } from '../../records/policy-store.ts';
import { nextFiringAt, toPolicyReport } from '../../schedule/policy-report.ts';
import {
  type GlobalOptions,
  policiesOf,
  policyNamed,
  sayFindings,
  sayIgnored,
  settingsOf,
  withCaretaker,
} from '../context.ts';
import { exit } from '../exit.ts';
import { pauseWords } from '../pause-words.ts';
import { moment, paintStatus } from '../show-run.ts';
import { type Terminal, table } from '../terminal.ts';

/** Lists policies with their next and last runs. Files that are broken are said to be. */
export async function listPolicies(terminal: Terminal, options: GlobalOptions): Promise<number> {
  const settings = settingsOf(options);
  const { policies, findings, ignored } = await policiesOf(settings);
  await withCaretaker(options, settings, async ({ records, clock }) => {
    const now = clock.now();
    const rows = await Promise.all(
      policies.map(async (policy) => {
        const [state, [last]] = await Promise.all([
          records.policies.state(policy.name),
          records.runs.list({ policy: policy.name, limit: 1 }),
        ]);
        const nextAt = nextFiringAt(policy, state, now);
        return { policy, state, pause: pauseAt(state, now), last, nextAt };
      }),
    );
    if (options.json) {
      terminal.json(rows.map(({ policy, state, last }) => toPolicyReport(policy, state, last, now)));
      return;
    }
    if (rows.length === 0) terminal.say(`There are no policies in ${settings.policiesDir}.`);
    else {
      const cells = rows.map(({ policy, pause, last, nextAt }) => [
        policy.name,
        policy.job,
        policy.schedule ? `${policy.schedule.cron.join(' and ')} ${policy.schedule.timezone}` : 'by hand',
        pause ? terminal.paint('yellow', pauseWords(pause)) : nextAt === undefined ? '' : moment(nextAt),
        last ? `${paintStatus(last.status, terminal)} ${moment(last.createdAt)}` : '',
      ]);
      terminal.data(table(['policy', 'job', 'schedule', 'next', 'last run'], cells, terminal.paint));
    }
  });
  sayFindings(findings, terminal);
  sayIgnored(ignored, terminal);
  return findings.length > 0 ? exit.badInput : exit.ok;
}

/** Shows one policy as it was read, every default filled in. */
export async function showPolicy(terminal: Terminal, name: string, options: GlobalOptions): Promise<number> {
  const settings = settingsOf(options);
  const policy = await policyNamed(name, settings, terminal);
  terminal.json(policy);
  return exit.ok;
}
