import { isoMinute, isoTime } from '../../clock.ts';
import { listSchedule } from '../../control/commands/list-schedule.ts';
import { localTimezone } from '../../dates.ts';
import { formatSkipCause } from '../../schedule/skip-cause.ts';
import { type UpcomingReport, type UpcomingRuns, upcomingRuns } from '../../schedule/upcoming-runs.ts';
import { wallTime } from '../../schedule/wall-time.ts';
import { isOnServer, withReader } from '../client.ts';
import { type GlobalOptions, policiesOf, printFindings, settingsOf } from '../context.ts';
import { findActivePolicy } from '../effective-policies.ts';
import { exit } from '../exit.ts';
import { type List, showList } from '../output/list.ts';
import { printNoScheduler } from '../output/pause.ts';
import type { OutputOption } from '../output/show.ts';
import type { Terminal } from '../output/terminal.ts';
import { endOf } from '../parse-time.ts';
import { policyOnServer } from '../read-policies.ts';

/** Lists the upcoming scheduled runs of all policies, or of the named ones, in order of time. */
export const next = (
  terminal: Terminal,
  names: readonly string[],
  options: GlobalOptions & { until: string; limit: number },
): Promise<number> =>
  withReader('policies', terminal, options, async (client) => {
    const settings = isOnServer(terminal, options) ? undefined : settingsOf(terminal, options);
    const loaded = settings && (await policiesOf(settings));
    const now = client.clock.now();
    const { limit } = options;
    const until = endOf(options, now) ?? now;
    for (const name of names)
      await (settings
        ? findActivePolicy(name, settings, client.here?.records, now)
        : policyOnServer(client, name));
    const input = { until: isoTime(until), limit, ...(names.length > 0 && { policy: [...names] }) };
    const isWanted = ({ name }: { name: string }) => names.length === 0 || names.includes(name);
    const found = await client.read(listSchedule, input, () => ({
      ...upcomingRuns(loaded?.policies ?? [], undefined, { now, until, limit, isWanted }),
      schedulers: 0,
    }));
    await showUpcoming(found, terminal, { ...options, end: until });
    printNoScheduler({ ...found, areAny: found.runs.length > 0 }, terminal);
    if (names.length > 0 || !loaded) return exit.ok;
    printFindings(loaded.findings, terminal);
    return loaded.findings.length > 0 ? exit.badInput : exit.ok;
  });

/** Shows upcoming runs, with their times in the time zone of this machine too. */
async function showUpcoming(
  { runs, more }: UpcomingRuns,
  terminal: Terminal,
  options: OutputOption & { end: number },
): Promise<void> {
  const lines = runs.map(({ depth: _shown, skipped, ...run }) => ({
    ...run,
    local_time: run.fires_at === null ? null : wallTime(Date.parse(run.fires_at), localTimezone()),
    skipped,
  }));
  const none = `No runs are scheduled until ${isoMinute(options.end)}.`;
  await showList(terminal, options, listIn(localTimezone()), { rows: runs, lines, none });
  const [first] = more;
  if (first === undefined) return;
  const others = more.length === 2 ? 'another policy' : `${more.length - 1} other policies`;
  const which = more.length === 1 ? `${first} has` : `${first} and ${others} have`;
  terminal.message(`${which} more runs than shown. Use --limit to show more per policy.`);
}

/** `here`: the time zone of this machine. */
const listIn = (here: string): List<UpcomingReport> => ({
  table: {
    'time (policy)': ({ fires_at, wall_time, timezone, depth, after }) =>
      fires_at === null ? `${'  '.repeat(depth)}after ${after}` : `${wall_time} ${timezone}`,
    [`time (${here})`]: ({ fires_at: at }) => at && wallTime(Date.parse(at), here),
    policy: ({ policy }) => policy,
    job: ({ job }) => job,
    '': ({ skipped, moved_from: moved, timezone }, { paint }) => {
      if (skipped) return paint('yellow', `skipped: ${formatSkipped(skipped)}`);
      const times = moved.map((time) => wallTime(Date.parse(time), timezone)).join(' and ');
      return times && `moved from ${times}`;
    },
  },
  csv: [
    'policy job after not_before scheduled_for fires_at moved_from timezone wall_time local_time',
    'skipped.why skipped.note',
  ],
});

const formatSkipped = ({ why, note }: NonNullable<UpcomingReport['skipped']>): string =>
  formatSkipCause({ why, ...(note === null ? {} : { note }) });
