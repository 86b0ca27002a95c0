/** `caretaker status`: what runs, what waits for a person, what failed, what is next, and whether anything is in the way. */
import { isoMinute } from '../../clock.ts';
import { type StatusReport, showStatus } from '../../control/commands/show-status.ts';
import { countOf } from '../../text.ts';
import { withReader } from '../client.ts';
import type { GlobalOptions } from '../context.ts';
import { exit } from '../exit.ts';
import { show } from '../output/show.ts';
import type { Terminal } from '../output/terminal.ts';

const none: StatusReport = {
  active: [],
  failed: [],
  findings: { error: 0, warning: 0, info: 0 },
  next: [],
  daemons: [],
  problems: ['No daemon has run here yet. Start one: caretaker daemon'],
};

/** A section has at most this many lines. */
const MAX_LINES = 8;

export const status = (terminal: Terminal, options: GlobalOptions): Promise<number> =>
  withReader('policies', terminal, options, async ({ read }) => {
    const report = await read(showStatus, {}, none);
    // What is not recorded is not known: it is not shown as nothing.
    const text = () => (report === none ? terminal.message(`${none.problems}`) : print(report, terminal));
    await show(terminal, options, { value: report, text });
    return exit.ok;
  });

function print(
  { active, failed, findings, next, daemons, problems }: StatusReport,
  terminal: Terminal,
): void {
  const section = (title: string, lines: readonly string[], more: string) => {
    terminal.data(terminal.paint('bold', title));
    for (const line of lines.slice(0, MAX_LINES)) terminal.data(`  ${line}`);
    if (lines.length > MAX_LINES) terminal.data(`  ${lines.length - MAX_LINES} more: ${more}`);
  };
  if (problems.length > 0) section('In the way', problems, 'caretaker doctor');
  const [waiting, running] = [active.filter(isForPerson), active.filter((run) => !isForPerson(run))];
  if (waiting.length > 0)
    section('Waits for a person', waiting.map(lineOf), 'caretaker runs --status active');
  section('Running', running.length > 0 ? running.map(lineOf) : ['nothing'], 'caretaker runs');
  section(
    'Last run failed, in the last 24 hours',
    failed.length > 0 ? failed.map(failureOf) : ['of no policy'],
    'caretaker runs --status failed,partial,stopped',
  );
  const { error, warning } = findings;
  section('Findings', [`${countOf(error, 'error')}, ${countOf(warning, 'warning')}: caretaker findings`], '');
  section(
    'Next',
    next.length > 0
      ? next.map(({ policy, fires_at }) => `${isoMinute(fires_at)} ${policy}`)
      : ['nothing within 7 days'],
    'caretaker next',
  );
  section(
    'Daemons',
    daemons.length > 0
      ? daemons.map(({ host, pid, roles }) => `${host} (pid ${pid}): ${roles.join(', ')}`)
      : ['none'],
    'caretaker doctor',
  );
}

type Run = StatusReport['active'][number];

/** Whether only a person can move it on. */
const isForPerson = ({ status: is, waits }: Run): boolean =>
  is === 'awaiting-approval' || / person/.test(waits ?? '');

function lineOf({ run, counts, waits, expected_end: end }: Run): string {
  const { planned, succeeded, failed, skipped, cancelled } = counts;
  const ended = succeeded + failed + skipped + cancelled;
  const when = end ? `ends about ${isoMinute(end)}` : `it ${waits}`;
  return `${run}: ${ended} of ${countOf(planned, 'target')}, ${when}`;
}

function failureOf({ run, status: is, counts, detail }: Run): string {
  const failed = counts.failed - (counts.found ?? 0);
  return `${run}: ${is}${failed > 0 ? `, ${countOf(failed, 'target')} failed` : ''}${detail ? ` (${detail})` : ''}`;
}
