import type { Child } from 'hono/jsx';
import { holdRings, type RingsAnswer, releaseVersion, ringsOf } from '../../control/commands/rings.ts';
import type { Policy } from '../../policy/policy.ts';
import { countOf } from '../../text.ts';
import { Action } from '../components/action.tsx';
import { Badge } from '../components/badge.tsx';
import { useMay } from '../components/contexts.tsx';
import { Empty } from '../components/empty.tsx';
import { policyPath, runPath, targetPath } from '../components/paths.ts';
import { Cut, Table } from '../components/table.tsx';
import { Sentence, Time } from '../components/time.tsx';
import { policyTab } from './policy.tsx';

type Ring = RingsAnswer['rings'][number];
type Version = Ring['versions'][number];

const MAX_BROKEN = 5;

/** The rings from left to right as the last run saw them: what each does and waits for, and the versions on the move. */
export const showRingsTab = policyTab('Rings', async (_, { control, reader }, policy) => {
  const [answer, [waiting]] = await Promise.all([
    ringsOf(control, policy),
    reader.runs({ policy: policy.name, status: 'awaiting-approval', limit: 1 }),
  ]);
  if (!answer)
    return (
      <section id="rings" class="tab" data-live>
        <Empty title="No run has looked at the rings yet." icon="clock">
          The next run of the policy does. <a href={policyPath(policy.name, '/run')}>Run it now</a>.
        </Empty>
      </section>
    );
  return (
    <section id="rings" class="tab" data-live>
      <p class="dim">
        Seen by <a href={runPath(answer.run)}>its last run</a> <Time at={Date.parse(answer.at)} />. What a
        person decides here takes effect with the next run.
      </p>
      {waiting && (
        <p class="note is-warn">
          A run that would change the rings <a href={runPath(waiting.id)}>waits for an approval</a>.
        </p>
      )}
      <div class="cards">
        {answer.rings.map((ring) => (
          <RingCard ring={ring} policy={policy} />
        ))}
      </div>
      <Suspects answer={answer} policy={policy} />
      <Versions answer={answer} policy={policy} />
    </section>
  );
});

const words = { run: 'active', promote: 'running', wait: 'waiting', hold: 'blocked' } as const;
const says = {
  run: 'it updates',
  promote: 'enabled for its next run',
  wait: 'waits',
  hold: 'held',
} as const;

const RingCard = ({ ring, policy }: { ring: Ring; policy: Policy }) => {
  const { name, sites, is, why, held, schedule, last_run: last, broken } = ring;
  const may = useMay()(holdRings.role, { policy: policy.name, account: policy.account });
  const path = policyPath(policy.name, `/rings/${held ? 'unhold' : 'hold'}?ring=${encodeURIComponent(name)}`);
  return (
    <article class="card">
      <div class="between">
        <h2>{name}</h2>
        <Badge word={held ? 'paused' : words[is]}>{held ? `held by ${held.by}` : says[is]}</Badge>
      </div>
      <p class="dim">
        {countOf(sites, 'site')}
        {schedule?.next_run_at && (
          <>
            , runs <Time at={Date.parse(schedule.next_run_at)} />
          </>
        )}
        {schedule && schedule.status !== 'active' && `, its schedule is ${schedule.status}`}
        {!schedule && ', no schedule yet'}
      </p>
      {held?.reason && <p>{held.reason}</p>}
      {!held && <Why sentences={why} />}
      {last ? (
        <p>
          Last run <Time at={Date.parse(last.at)} />: {last.status} ({countOf(last.sites, 'site')})
        </p>
      ) : (
        <p class="dim">It never ran.</p>
      )}
      {broken.length > 0 && <p class="failed">{countOf(broken.length, 'site')} broke after its updates</p>}
      <Broken all={broken} account={policy.account} />
      {may && (
        <p class="actions">
          <Action to={path} of={name}>
            {held ? 'End the hold' : 'Hold'}
          </Action>
        </p>
      )}
    </article>
  );
};

const MAX_WHY = 2;

const Why = ({ sentences }: { sentences: readonly string[] }) => (
  <>
    {sentences.slice(0, MAX_WHY).map((sentence) => (
      <p>
        <Sentence text={sentence} />
      </p>
    ))}
    {sentences.length > MAX_WHY && (
      <p class="dim">And {sentences.length - MAX_WHY} more: see the versions.</p>
    )}
  </>
);

const Broken = ({ all, account }: { all: readonly Broken[]; account: string }) =>
  all.length === 0 ? null : (
    <ul class="plain">
      {all.slice(0, MAX_BROKEN).map(({ site, label, why }) => (
        <li>
          <a href={targetPath(account, site)}>{label}</a> <span class="dim">{why}</span>
        </li>
      ))}
      {all.length > MAX_BROKEN && <li class="dim">and {all.length - MAX_BROKEN} more</li>}
    </ul>
  );
type Broken = RingsAnswer['suspects'][number]['broken'][number];

const Suspects = ({ answer: { suspects }, policy }: { answer: RingsAnswer; policy: Policy }): Child =>
  suspects.map(({ item, version, taken, broken, chance }) => (
    <article class="card">
      <div class="between">
        <h2>
          <Badge word="error">suspect</Badge> {item} {version}
        </h2>
        <Release item={item} version={version} policy={policy} />
      </div>
      <p>
        {broken.length} of {countOf(taken, 'site')} that took it broke. By chance that happens in{' '}
        {(chance * 100).toPrecision(2)}%. It is left out of every ring until there is a newer version.
      </p>
      <Broken all={broken} account={policy.account} />
    </article>
  ));

const Release = ({ item, version, policy }: { item: string; version: string; policy: Policy }) =>
  useMay()(releaseVersion.role, { policy: policy.name, account: policy.account }) ? (
    <Action
      to={policyPath(policy.name, `/rings/release?${new URLSearchParams({ item, version })}`)}
      of={`${item} ${version}`}
    >
      Release
    </Action>
  ) : null;

const badges = { proven: 'done', waiting: 'waiting', doubted: 'warning', quarantined: 'error' } as const;

/** One row for each item, with where its last version stands in each ring. */
const Versions = ({ answer: { rings, released }, policy }: { answer: RingsAnswer; policy: Policy }) => {
  const items = [...new Set(rings.flatMap(({ versions }) => versions.map(({ item }) => item)))];
  const at = ({ versions }: Ring, item: string) => versions.find((one) => one.item === item);
  const isProvenAt = (ring: Ring, item: string) => at(ring, item)?.is === 'proven';
  const isProven = (item: string) => rings.every((ring) => isProvenAt(ring, item));
  const moving = items.filter((item) => !isProven(item));
  return (
    <>
      <h2>Versions on the move</h2>
      {moving.length === 0 ? (
        <p class="calm">
          {items.length === 0
            ? 'No ring has taken a version yet.'
            : 'Every version that was taken is proven in every ring.'}
        </p>
      ) : (
        <Table
          name="Versions on the move"
          columns={(column) => [
            column('Item', 'w-name', (item) => <Cut whole={item} />),
            ...rings.map((ring, index) =>
              column(ring.name, '', (item: string) => (
                <Standing
                  of={
                    rings.slice(0, index).every((one) => isProvenAt(one, item)) ? at(ring, item) : undefined
                  }
                />
              )),
            ),
            column('', 'w-word end', (item) => {
              const doubted = rings.map((ring) => at(ring, item)).find((one) => one?.is === 'doubted');
              return doubted && <Release item={item} version={doubted.version} policy={policy} />;
            }),
          ]}
          rows={moving}
          keyOf={(item) => item}
        />
      )}
      {items.length > moving.length && moving.length > 0 && (
        <p class="dim">{countOf(items.length - moving.length, 'item')} more: proven in every ring.</p>
      )}
      {released.map(({ item, version, by, at: time, reason }) => (
        <p class="dim">
          {by} released {item} {version} <Time at={Date.parse(time)} />
          {reason && `: ${reason}`}
        </p>
      ))}
    </>
  );
};

const Standing = ({ of }: { of: Version | undefined }) =>
  of === undefined ? (
    <span class="dim">not yet</span>
  ) : (
    <Cut whole={`${of.version}: ${of.why}`}>
      <Badge word={badges[of.is]}>{of.is}</Badge> {of.version}{' '}
      {of.is === 'waiting' && of.at !== null ? (
        <span class="dim">
          soaks until <Time at={Date.parse(of.at)} />
        </span>
      ) : (
        <span class="dim">{of.why}</span>
      )}
    </Cut>
  );
