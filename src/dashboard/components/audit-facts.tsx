/** All facts about an act in the audit log: what was asked for, and what came of it. */
import type { Child } from 'hono/jsx';
import type { AuditLine } from '../../records/audit-store.ts';
import { Badge } from './badge.tsx';
import { policyPath, runPath } from './paths.ts';
import { Sentence, Time } from './time.tsx';

const kinds: Readonly<Record<string, string>> = {
  user: 'user of the configuration',
  token: 'token of the configuration',
  local: 'a user with access to Redis',
  daemon: 'Caretaker itself',
};

type Facts = readonly (readonly [name: string, value: Child | undefined])[];

export const AuditFacts = ({ line }: { line: AuditLine }) => {
  const { act, at, who, from, what, policy, account, run, targets, detail, why, code, message } = line;
  return (
    <div class="audit-facts">
      <p class="strong">Request</p>
      <FactList
        facts={[
          ['Who', `${who.name} (${kinds[who.kind] ?? who.kind})`],
          ['From', from],
          ['What', <code>{what}</code>],
          ['Policy', policy && <a href={policyPath(policy)}>{policy}</a>],
          ['Account', account],
          ['Run', run && <a href={runPath(run)}>{run}</a>],
          ['Named targets', targets],
          ['Reason', why],
          ['Act', <span class="id">{act}</span>],
        ]}
      />
      <p class="strong">Answer</p>
      <FactList
        facts={[
          ['Result', <Badge word={line.result} />],
          ['Time', <Time at={at} />],
          ['Error', code && <code>{code}</code>],
          ['Message', message && <Sentence text={message} />],
          ['Detail', detail && <Sentence text={detail} />],
        ]}
      />
      {line.result === 'requested' && (
        <p class="dim">
          It has no result: the act is going on, or its process died and it may have happened.
        </p>
      )}
    </div>
  );
};

/** Those that are known. */
const FactList = ({ facts }: { facts: Facts }) => (
  <dl>
    {facts
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => (
        <div>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
);
