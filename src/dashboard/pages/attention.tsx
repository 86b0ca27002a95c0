/** The overview's list of what needs a person. */
import { type Child, useContext } from 'hono/jsx';
import { isoMinute } from '../../clock.ts';
import { type CountedGroup, newUnacknowledged, unacknowledged } from '../../control/findings.ts';
import { shownOutcome } from '../../run/moves.ts';
import type { Reason, Reasons } from '../../run/reasons.ts';
import { countOf } from '../../text.ts';
import { Action } from '../components/action.tsx';
import { Badge } from '../components/badge.tsx';
import { AlertsContext, ReasonsContext, useMay } from '../components/contexts.tsx';
import { pathWith } from '../components/filter-bar.tsx';
import { Icon } from '../components/icon.tsx';
import { policyPath, runPath } from '../components/paths.ts';
import { number } from '../components/progress.tsx';
import { whyOf } from '../components/run-table.tsx';
import { Cut, Table } from '../components/table.tsx';
import { Sentence, Time } from '../components/time.tsx';
import type { FailedItem, FailedTargets, Item } from '../queries/attention.ts';

/** How many are in the table; the others can be opened. */
const MAX_SHOWN = 8;
const MAX_FOLDED = 200;

export const Attention = ({ items }: { items: readonly Item[] }) => {
  const [may, reasons, alerts] = [useMay(), useContext(ReasonsContext), useContext(AlertsContext)];
  return (
    <section id="attention" data-live>
      <h2>Needs attention</h2>
      {items.length === 0 ? (
        <p class="calm">
          {alerts.length === 0 ? (
            <>
              <Icon name="circle-check" /> All is well: nothing failed
            </>
          ) : (
            `There ${alerts.length === 1 ? 'is 1 notice' : `are ${alerts.length} notices`}. Nothing failed`
          )}{' '}
          in the last 24 hours, no error or warning is open, and nothing waits for a person.
        </p>
      ) : (
        <Table
          name="What needs attention"
          columns={(column) => [
            column('What', 'w-what', ({ what }) => what),
            column('Policy', 'w-name', ({ about, to, whole = about }) => (
              <Cut whole={whole} to={to}>
                {about}
              </Cut>
            )),
            column('Why', '', ({ why, because = why }) => (
              <Cut whole={because}>
                <Sentence text={why} />
              </Cut>
            )),
            column('Since', 'w-since end', ({ since }) => <Time at={since} show="relative" />),
            column('In a row', 'w-short end wide-only', ({ streak = '–' }) => streak),
            column('Action', 'w-badge end', ({ action }) => action),
          ]}
          rows={items.slice(0, MAX_SHOWN).map((item) => lineOf(item, reasons, may))}
          keyOf={({ key }) => key}
        />
      )}
      {items.length > MAX_SHOWN && (
        <details>
          <summary>{number(items.length - MAX_SHOWN)} more</summary>
          <ul>
            {items.slice(MAX_SHOWN, MAX_SHOWN + MAX_FOLDED).map((item) => (
              <li>
                <ItemLine item={item} />
              </li>
            ))}
            {items.length > MAX_SHOWN + MAX_FOLDED && (
              <li>and {number(items.length - MAX_SHOWN - MAX_FOLDED)} more</li>
            )}
          </ul>
        </details>
      )}
    </section>
  );
};

/** What is said of an item. */
interface Line {
  /** Unique in the list. */
  key: string;
  what: Child;
  /** Its policy, or what else it is about. */
  about: string;
  /** The whole text of that, where it is shortened. */
  whole?: string;
  /** The page of that. */
  to?: string;
  why: string;
  /** The whole of that. */
  because?: string;
  since?: number | undefined;
  /** How many runs in a row. */
  streak?: string | undefined;
  action: Child;
}

type May = ReturnType<typeof useMay>;

function lineOf(item: Item, reasons: Reasons, may: May): Line {
  switch (item.is) {
    case 'failed':
      return failedLine(item, reasons, may);
    case 'approval': {
      const { id, policy, approvals } = item.run;
      return {
        key: `approval ${id}`,
        what: <Badge word="awaiting-approval">approval</Badge>,
        about: policy,
        to: policyPath(policy),
        why: approvals?.at(-1)?.why ?? 'It waits for an approval.',
        since: item.since,
        action: (
          <Look to={runPath(id)} of={`about ${policy}`}>
            Decide
          </Look>
        ),
      };
    }
    case 'moved-account':
      return {
        key: `moved ${item.account}`,
        what: <Badge word="error">another address</Badge>,
        about: item.account,
        why: item.sentence,
        action: <LookAtNotices of={`at the account ${item.account}`} />,
      };
    case 'broken-file': {
      const { file, errors, since } = item.file;
      const [first] = errors;
      return {
        key: `file ${file}`,
        what: <Badge word="error">{countOf(errors.length, 'error')}</Badge>,
        about: file.split('/').at(-1) ?? file,
        whole: file,
        why: first ? `${first.place}: ${first.message}` : 'It cannot be read.',
        since,
        action: <LookAtNotices of={`at ${file}`} />,
      };
    }
    case 'findings':
      return findingsLine(item.groups);
    case 'paused': {
      const { name, account } = item.policy;
      const { by, reason, until, at } = item.pause;
      const end = until === undefined ? '' : `, until ${isoMinute(until)}`;
      return {
        key: `paused ${name}`,
        what: <Badge word="paused" />,
        about: name,
        to: policyPath(name),
        why: `paused by ${by}${reason ? `: ${reason}` : ''}${end}`,
        since: at,
        action: may('operator', { policy: name, account }) ? (
          <Action to={policyPath(name, '/resume')} of={name}>
            Resume
          </Action>
        ) : (
          <Look to={policyPath(name)} of={name}>
            Open policy
          </Look>
        ),
      };
    }
  }
}

const Look = ({ to, of, children }: { to: string; of: string; children: Child }) => (
  <a class="action" href={to}>
    {children}
    <span class="unseen"> {of}</span>
  </a>
);

const LookAtNotices = ({ of }: { of: string }) => (
  <button type="button" class="action" popovertarget="notices">
    Open notices<span class="unseen"> {of}</span>
  </button>
);

/** The run with only the targets that failed for this reason. */
const targetsPath = ({ latest, reason }: FailedTargets): string =>
  runPath(latest, `?outcome=failed&search=${reason}`);

/** A reason in words. */
const wordsOf = (reason: Reason): string => reason.replaceAll('-', ' ');

function failedLine(item: FailedItem, reasons: Reasons, may: May): Line {
  const { policy, targets, status = 'failed', latest, details, findings } = item;
  const { run, recovered, since, streak = 0, isOpen } = details ?? {};
  const [first] = targets;
  const canRetry = run?.finishedAt !== undefined && run.counts.failed > 0;
  const helps = !recovered && targets.some(({ reason }) => reasons.get(reason)?.retryable === true);
  const parts = [
    ...(recovered ? ['A later run succeeded'] : []),
    ...targets.map(({ reason, count, latest: of }) =>
      of === run?.id
        ? `${wordsOf(reason)}: ${number(count)} of ${number(run.counts.planned)}`
        : `${wordsOf(reason)}: ${number(count)}`,
    ),
    ...(first ? [] : [(run && whyOf(run)) ?? `Its latest run is ${status}`]),
    ...findings.map(openOf),
  ];
  const texts = targets.map(({ reason }) => reasons.get(reason)?.text ?? '');
  const word = first && shownOutcome(reasons, 'failed', first.reason);
  return {
    key: `failed ${policy}`,
    what: first ? (
      <Badge word={word ?? ''} to={targetsPath(first)}>
        {number(first.count)} {word}
        <span class="unseen"> {first.count === 1 ? 'target' : 'targets'}</span>
      </Badge>
    ) : (
      <Badge word={status} />
    ),
    about: policy,
    to: policyPath(policy),
    why: parts.join('; '),
    because: [`${parts.join('; ')}.`, ...texts].join(' '),
    since,
    streak: streak > 0 ? `${number(streak)}${isOpen ? '+' : ''}` : undefined,
    action:
      canRetry && helps && may('operator', { policy, account: run.account }) ? (
        <Action to={runPath(latest, '/retry')} of={policy}>
          Retry
        </Action>
      ) : (
        <Look to={first ? targetsPath(first) : runPath(latest)} of={`of ${policy}`}>
          Open run
        </Look>
      ),
  };
}

/** `22 errors open, 2 of them new`. */
function openOf(group: CountedGroup): string {
  const fresh = newUnacknowledged(group);
  return `${countOf(unacknowledged(group), group.severity)} open${fresh === 0 ? '' : `, ${number(fresh)} of them new`}`;
}

/** The open findings of a policy. */
function findingsLine(groups: readonly [CountedGroup, ...CountedGroup[]]): Line {
  const [first] = groups;
  const { policy, severity, since } = first;
  return {
    key: `findings ${policy}`,
    what: (
      <Badge word={severity} to={findingsPath(first)}>
        {countOf(unacknowledged(first), severity)}
      </Badge>
    ),
    about: policy,
    to: policyPath(policy),
    why: groups.map(openOf).join('; '),
    since,
    action: (
      <Look to={pathWith('/findings', { policy })} of={`of ${policy}`}>
        Open findings
      </Look>
    ),
  };
}

const findingsPath = ({ policy, account, severity }: CountedGroup): string =>
  pathWith('/findings', { policy, account, severity });

/** An item in one line, where there are too many for the table. */
const ItemLine = ({ item }: { item: Item }) => {
  switch (item.is) {
    case 'failed': {
      const reasons = useContext(ReasonsContext);
      return (
        <>
          <a href={policyPath(item.policy)}>{item.policy}</a>:{' '}
          {item.targets.length === 0 ? (
            <a href={runPath(item.latest)}>{item.status}</a>
          ) : (
            item.targets.map((one, at) => (
              <>
                {at > 0 && '; '}
                <a href={targetsPath(one)}>
                  {number(one.count)} {shownOutcome(reasons, 'failed', one.reason)}, {wordsOf(one.reason)}
                </a>
              </>
            ))
          )}
        </>
      );
    }
    case 'approval':
      return (
        <>
          <a href={runPath(item.run.id)}>{item.run.policy}</a>: approval
        </>
      );
    case 'moved-account':
      return <>{item.account}: another address</>;
    case 'broken-file':
      return <>{item.file.file}: errors</>;
    case 'findings': {
      const [{ policy }] = item.groups;
      return (
        <>
          <a href={policyPath(policy)}>{policy}</a>:{' '}
          <a href={pathWith('/findings', { policy })}>{item.groups.map(openOf).join('; ')}</a>
        </>
      );
    }
    case 'paused':
      return (
        <>
          <a href={policyPath(item.policy.name)}>{item.policy.name}</a>: paused by {item.pause.by}
        </>
      );
  }
};
