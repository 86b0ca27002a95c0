import type { Child } from 'hono/jsx';
import { stringify } from 'yaml';
import type { Policy } from '../../policy/policy.ts';
import { type KeyChange, valueChanges } from '../../policy/policy-diff.ts';
import { MAX_VERSIONS, type PolicyVersion } from '../../records/version-store.ts';
import { countOf } from '../../text.ts';
import { shortFile } from '../../yaml/diagnostic.ts';
import { useMay } from '../components/contexts.tsx';
import { Empty } from '../components/empty.tsx';
import { Time } from '../components/time.tsx';
import { type Entry, Timeline } from '../components/timeline.tsx';
import { policyTab } from './policy.tsx';

/** The versions of the policy's definition, each with what differs from the one before it. */
export const showChanges = policyTab('Changes', async (_, { reader }, policy) => {
  const versions = await reader.versions(policy.name);
  const entries = versions.map((version, index) => entryOf(version, versions[index + 1]));
  return (
    <section id="changes" class="tab" data-live>
      <p class="dim">
        A change is noticed when a daemon reads the file. Who edited the file is not known here: the history
        of your repository has that. <AuditLink policy={policy} />
      </p>
      {versions.length > 0 && versions[0]?.hash !== policy.hash && (
        <p class="note is-warn">
          This process has another version of the policy ({policy.hash}) than was read last.
        </p>
      )}
      {entries.length === 0 ? (
        <Empty title="No version of this policy is stored." icon="scroll-text">
          A daemon stores the version that it reads, and later each change of what decides what the policy
          does.
        </Empty>
      ) : (
        <Timeline entries={entries} />
      )}
      {versions.length > 0 && <Before versions={versions} />}
    </section>
  );
});

/** Pauses, runs and other acts are there; only operators may read it. */
const AuditLink = ({ policy: { name, account } }: { policy: Policy }) =>
  useMay()('operator', { policy: name, account }) ? (
    <>
      Pauses, runs and other acts are in the{' '}
      <a href={`/audit?policy=${encodeURIComponent(name)}`}>audit log</a>.
    </>
  ) : null;

const Before = ({ versions }: { versions: readonly PolicyVersion[] }) => (
  <p class="dim">
    {versions.length >= MAX_VERSIONS ? `Only the last ${MAX_VERSIONS} versions are kept. ` : ''}
    What was changed before <Time at={versions.at(-1)?.at} show="exact" /> is not known.
  </p>
);

function entryOf(version: PolicyVersion, before: PolicyVersion | undefined): Entry {
  const { at, hash, file, line, definition } = version;
  const place = line === undefined ? shortFile(file) : `${shortFile(file)}:${line}`;
  const from = (
    <>
      {' '}
      <span class="dim">
        version {hash}, from <code>{place}</code>
      </span>
    </>
  );
  const key = `${at} ${hash}`;
  if (!before) return { key, at, icon: 'scroll-text', title: <>The first version that is stored{from}</> };
  const changes = definition && before.definition ? valueChanges(before.definition, definition) : undefined;
  return {
    key,
    at,
    icon: 'repeat',
    tone: 'busy',
    title: (
      <>
        {titleOf(changes)}
        {from}
      </>
    ),
    details: changes ? <Changes changes={changes} /> : undefined,
  };
}

function titleOf(changes: readonly KeyChange[] | undefined): Child {
  if (!changes) return 'Changed; a version is too large to be kept, so what changed is not known';
  if (changes.length === 0)
    return 'Changed in what the definition does not show, such as the days of a calendar';
  return `${countOf(changes.length, 'key')} changed`;
}

const Changes = ({ changes }: { changes: readonly KeyChange[] }) =>
  changes.length === 0 ? null : (
    <ul class="changes">
      {changes.map(({ key, before, after }) => (
        <li>
          <code>{key}</code>
          {before !== undefined && (
            <>
              {' '}
              <span class="dim">{after === undefined ? 'removed' : 'from'}</span> <del>{written(before)}</del>
            </>
          )}
          {after !== undefined && (
            <>
              {' '}
              <span class="dim">{before === undefined ? 'added' : 'to'}</span> <ins>{written(after)}</ins>
            </>
          )}
        </li>
      ))}
    </ul>
  );

/** On one line, as in a file. */
const written = (value: unknown): string =>
  stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trimEnd();
