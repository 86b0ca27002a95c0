/** When a policy runs, why it does not, and what can be done about it. */
import cronstrue from 'cronstrue';
import { formatAfter } from '../../policy/chains.ts';
import type { Policy, Schedule } from '../../policy/policy.ts';
import type { Pause } from '../../records/policy-store.ts';
import { Action } from './action.tsx';
import { Badge } from './badge.tsx';
import { useMay } from './contexts.tsx';
import { Icon } from './icon.tsx';
import { policyPath } from './paths.ts';
import { Time, timeIn } from './time.tsx';

/** What a policy does and how often, in one line: `at 02:00, every day, Berlin`. */
export function scheduleLine({ schedule }: Policy): string {
  if (!schedule) return 'manual only';
  if (schedule.after) return formatAfter(schedule.after);
  const city = schedule.timezone.split('/').at(-1)?.replaceAll('_', ' ');
  return `${scheduleInWords(schedule)}, ${city}`;
}

const PausedBy = ({ pause }: { pause: Pause }) => (
  <>
    paused by {pause.by}
    {pause.reason && `: ${pause.reason}`}, since <Time at={pause.at} />
    {pause.until !== undefined && (
      <>
        , until <Time at={pause.until} />
      </>
    )}
  </>
);

/** Why a policy does not run on schedule: it is paused, or its file disables the schedule. */
export const PolicyBadges = ({ policy, pause }: { policy: Policy; pause: Pause | undefined }) => (
  <>
    {pause && <Badge word="paused" />}
    {policy.schedule?.disabled && <Badge word="disabled" />}
  </>
);

export const ScheduleLines = ({ policy }: { policy: Policy }) => {
  const { schedule } = policy;
  if (!schedule) return <span class="dim">manual</span>;
  if (schedule.after) return <span>{formatAfter(schedule.after)}</span>;
  return (
    <>
      <p>{scheduleInWords(schedule)}</p>
      {schedule.cron.map((cron) => (
        <p>
          <code>{cron}</code>
        </p>
      ))}
      <p class="dim">{schedule.timezone}</p>
    </>
  );
};

/** The next scheduled time, in the reader's time zone and in the policy's own; or why there is none. */
export const NextFiring = ({
  policy: { schedule },
  pause,
  nextAt,
}: {
  policy: Policy;
  pause: Pause | undefined;
  nextAt: number | undefined;
}) => {
  const paused = pause && (
    <p>
      <PausedBy pause={pause} />
    </p>
  );
  if (schedule?.disabled) {
    return (
      <>
        {paused}
        <p>
          never: its file disables the schedule (<code>schedule.enabled: false</code>)
        </p>
      </>
    );
  }
  if (paused && nextAt === undefined) return paused;
  if (!schedule) return <span class="dim">manual only</span>;
  if (schedule.after) return <span class="dim">when a run of {schedule.after.policy} has ended</span>;
  if (nextAt === undefined) return <span>never: its schedule has no more scheduled times</span>;
  return (
    <>
      {paused}
      <Time at={nextAt} />
      <p class="dim">{timeIn(nextAt, schedule.timezone)}</p>
    </>
  );
};

export const PolicyActions = ({ policy: { name, account }, paused }: { policy: Policy; paused: boolean }) =>
  useMay()('operator', { policy: name, account }) ? (
    <span class="actions">
      <Action to={policyPath(name, '/run')} of={name} icon="play">
        Run now
      </Action>
      <a class="action" href={policyPath(name, '/plan')}>
        <Icon name="search-check" />
        Plan
        <span class="unseen"> {name}</span>
      </a>
      {paused ? (
        <Action to={policyPath(name, '/resume')} of={name} icon="play">
          Resume
        </Action>
      ) : (
        <Action to={policyPath(name, '/pause')} of={name} icon="pause">
          Pause
        </Action>
      )}
    </span>
  ) : null;

/** The schedule in words, without its time zone. */
export const scheduleInWords = ({ cron }: Pick<Schedule, 'cron'>): string => cron.map(cronInWords).join('; ');

/** A cron expression in words; as it is when it has a form without words. */
export function cronInWords(expression: string): string {
  const words = cronstrue.toString(expression, {
    use24HourTimeFormat: true,
    // As in `parseCron`: a day of the month and a day of the week both have to match.
    logicalAndDayFields: true,
    throwExceptionOnParseError: false,
  });
  if (words.startsWith('An error occurred')) return expression;
  const text = words.charAt(0).toLowerCase() + words.slice(1);
  return /^at [^,]*$/.test(text) && !text.includes('past the hour') ? `${text}, every day` : text;
}
