/** The overview's list of what needs a person. */
import { useContext } from 'hono/jsx';
import { type ShownOutcome, shownOutcome } from '../../run/found.ts';
import { countOf } from '../../text.ts';
import { Action } from '../components/action.tsx';
import { AttentionRow } from '../components/attention-row.tsx';
import { Badge } from '../components/badge.tsx';
import { ReasonsContext, useMay } from '../components/contexts.tsx';
import { Icon } from '../components/icon.tsx';
import { policyPath, runPath } from '../components/paths.ts';
import { number } from '../components/progress.tsx';
import { whyOf } from '../components/run-table.tsx';
import { DataTable } from '../components/table.tsx';
import { Sentence, Time } from '../components/time.tsx';
import type { FailedItem, Item } from '../queries/attention.ts';
import { FindingsRow, findingsPath } from './attention-findings.tsx';

/** How many are in the table; the others can be opened. */
const MAX_SHOWN = 12;
const MAX_FOLDED = 200;

export const Attention = ({ items, now }: { items: readonly Item[]; now: number }) => (
  <section id="attention" data-live>
    <h2>Needs attention</h2>
    {items.length === 0 ? (
      <p class="calm">
        <Icon name="circle-check" /> All is well: nothing failed in the last 24 hours, no error or warning is
        open, and nothing waits for a person.
      </p>
    ) : (
      <DataTable
        name="What needs attention"
        columns={[
          { head: 'What', width: 'w-what' },
          { head: 'Policy', width: 'w-name' },
          { head: 'Why' },
          { head: 'Since', width: 'w-since', end: true },
          { head: 'In a row', width: 'w-short', end: true, wideOnly: true },
          { head: 'Action', width: 'w-word', end: true },
        ]}
      >
        {items.slice(0, MAX_SHOWN).map((item) => (
          <ItemRow item={item} now={now} />
        ))}
      </DataTable>
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

const ItemRow = ({ item, now }: { item: Item; now: number }) => {
  switch (item.is) {
    case 'failed':
      return <FailedRow item={item} now={now} />;
    case 'approval':
      return <ApprovalRow item={item} now={now} />;
    case 'moved-account':
      return <MovedAccountRow item={item} now={now} />;
    case 'broken-file':
      return <BrokenFileRow item={item} now={now} />;
    case 'findings':
      return <FindingsRow item={item} now={now} />;
    case 'paused':
      return <PausedRow item={item} now={now} />;
  }
};

/** The run with only the targets that failed for this reason. */
const targetsPath = ({ latest, targets }: FailedItem): string =>
  runPath(latest, targets ? `?outcome=failed&search=${targets.reason}` : '');

/** Whether its targets failed, or a check found something in them. */
const useWord = ({ targets }: FailedItem): ShownOutcome =>
  shownOutcome(useContext(ReasonsContext), 'failed', targets?.reason);

const useWhy = ({ targets, status = 'failed', details }: FailedItem): string => {
  const reasons = useContext(ReasonsContext);
  if (targets) return reasons.get(targets.reason)?.text ?? targets.reason;
  return (details?.run && whyOf(details.run)) || `Its latest run is ${status}.`;
};

const FailedRow = ({ item, now }: { item: FailedItem; now: number }) => {
  const { policy, targets, status = 'failed', latest, details } = item;
  const reasons = useContext(ReasonsContext);
  const why = useWhy(item);
  const run = details?.run;
  const mayRetry = useMay()('operator', { policy, account: run?.account });
  const word = useWord(item);
  const helps = targets !== undefined && reasons.get(targets.reason)?.retryable === true;
  const canRetry = run !== undefined && run.finishedAt !== undefined && run.counts.failed > 0;
  return (
    <AttentionRow
      name={`failed ${policy} ${targets?.reason ?? status}`}
      what={
        targets ? (
          <a class={`badge is-${word}`} href={targetsPath(item)}>
            <Icon name={word === 'found' ? 'triangle-alert' : 'circle-x'} />
            {number(targets.count)} {word}
            <span class="unseen"> {targets.count === 1 ? 'target' : 'targets'}</span>
          </a>
        ) : (
          <Badge word={status} />
        )
      }
      policy={<a href={policyPath(policy)}>{policy}</a>}
      whole={policy}
      why={
        <>
          {targets && (
            <>
              <code>{targets.reason}</code>{' '}
            </>
          )}
          <span class="dim">
            {details?.recovered && 'A later run succeeded. '}
            <Sentence text={why} />
          </span>
        </>
      }
      wholeWhy={targets ? `${targets.reason}: ${why}` : why}
      since={details?.since}
      streak={
        details && details.streak > 0 ? `${number(details.streak)}${details.isOpen ? '+' : ''}` : undefined
      }
      action={
        mayRetry && canRetry && helps && !details?.recovered ? (
          <Action to={runPath(latest, '/retry')} of={`${policy}: ${targets?.reason}`}>
            Retry
          </Action>
        ) : (
          <a class="action" href={targetsPath(item)}>
            Look
            <span class="unseen">
              {' '}
              at {policy}: {targets?.reason ?? status}
            </span>
          </a>
        )
      }
      now={now}
    />
  );
};

const ApprovalRow = ({
  item: { run, since },
  now,
}: {
  item: Extract<Item, { is: 'approval' }>;
  now: number;
}) => {
  const approval = run.approvals?.at(-1);
  const why = approval?.why ?? 'It waits for an approval.';
  return (
    <AttentionRow
      name={`approval ${run.id}`}
      what={
        <span class="badge is-awaiting-approval">
          <Icon name="badge-check" /> approval
        </span>
      }
      policy={<a href={policyPath(run.policy)}>{run.policy}</a>}
      whole={run.policy}
      why={
        <span class="dim">
          <Sentence text={why} />
        </span>
      }
      wholeWhy={why}
      since={since}
      action={
        <a class="action" href={runPath(run.id)}>
          Decide<span class="unseen"> about {run.policy}</span>
        </a>
      }
      now={now}
    />
  );
};

const MovedAccountRow = ({
  item: { account, sentence },
  now,
}: {
  item: Extract<Item, { is: 'moved-account' }>;
  now: number;
}) => (
  <AttentionRow
    name={`moved ${account}`}
    what={
      <span class="badge is-error">
        <Icon name="circle-x" /> another address
      </span>
    }
    policy={account}
    whole={account}
    why={<span class="dim">{sentence}</span>}
    wholeWhy={sentence}
    action={
      <button type="button" class="action" popovertarget="notices">
        Look<span class="unseen"> at the account {account}</span>
      </button>
    }
    now={now}
  />
);

const BrokenFileRow = ({
  item: { file },
  now,
}: {
  item: Extract<Item, { is: 'broken-file' }>;
  now: number;
}) => {
  const [first] = file.errors;
  const count = file.errors.length === 1 ? '1 error' : `${file.errors.length} errors`;
  const why = first ? `${first.place}: ${first.message}` : 'It cannot be read.';
  return (
    <AttentionRow
      name={`file ${file.file}`}
      what={
        <span class="badge is-error">
          <Icon name="circle-x" /> {count}
        </span>
      }
      policy={file.file.split('/').at(-1)}
      whole={file.file}
      why={<span class="dim">{why}</span>}
      wholeWhy={why}
      since={file.since}
      action={
        <button type="button" class="action" popovertarget="notices">
          Look<span class="unseen"> at {file.file}</span>
        </button>
      }
      now={now}
    />
  );
};

const PausedRow = ({
  item: { policy, pause },
  now,
}: {
  item: Extract<Item, { is: 'paused' }>;
  now: number;
}) => {
  const { name, account } = policy;
  const may = useMay();
  const why = `paused by ${pause.by}${pause.reason ? `: ${pause.reason}` : ''}`;
  return (
    <AttentionRow
      name={`paused ${name}`}
      what={<Badge word="paused" />}
      policy={<a href={policyPath(name)}>{name}</a>}
      whole={name}
      why={
        <span class="dim">
          {why}
          {pause.until !== undefined && (
            <>
              , until <Time at={pause.until} now={now} show="exact" />
            </>
          )}
        </span>
      }
      wholeWhy={why}
      since={pause.at}
      action={
        may('operator', { policy: name, account }) ? (
          <Action to={policyPath(name, '/resume')} of={name}>
            Resume
          </Action>
        ) : (
          <a class="action" href={policyPath(name)}>
            Look<span class="unseen"> at {name}</span>
          </a>
        )
      }
      now={now}
    />
  );
};

/** An item in one line, where there are too many for the table. */
const ItemLine = ({ item }: { item: Item }) => {
  switch (item.is) {
    case 'failed':
      return (
        <>
          <a href={policyPath(item.policy)}>{item.policy}</a>:{' '}
          <a href={targetsPath(item)}>
            {item.targets
              ? `${number(item.targets.count)} ${useWord(item)}, ${item.targets.reason}`
              : item.status}
          </a>
        </>
      );
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
    case 'findings':
      return (
        <>
          <a href={policyPath(item.group.policy)}>{item.group.policy}</a>:{' '}
          <a href={findingsPath(item.group)}>{countOf(item.group.open, item.group.severity)}</a>
        </>
      );
    case 'paused':
      return (
        <>
          <a href={policyPath(item.policy.name)}>{item.policy.name}</a>: paused by {item.pause.by}
        </>
      );
  }
};
