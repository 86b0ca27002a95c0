/** How Redis is: memory, latency, what is written to disk. One block for each server. */
import type { RedisFacts } from '../../redis/facts.ts';
import { bytes } from './progress.tsx';
import { millis, Time } from './time.tsx';

export const RedisServers = ({ servers }: { servers: readonly RedisFacts[] }) => (
  <>
    {servers.map((facts) => (
      <dl class="card facts">
        <div>
          <dt>Memory</dt>
          <dd data-moving>
            {facts.usedBytes === undefined ? <NotKnown /> : bytes(facts.usedBytes)}
            {facts.maxBytes !== undefined && (
              <div class="hint">{facts.maxBytes === 0 ? 'no limit' : `of ${bytes(facts.maxBytes)}`}</div>
            )}
          </dd>
        </div>
        <div>
          <dt>When memory is full</dt>
          <dd>
            <Policy facts={facts} />
          </dd>
        </div>
        <div>
          <dt>Latency</dt>
          <dd data-moving>{millis(facts.latencyMs)}</dd>
        </div>
        <div>
          <dt>Append-only file</dt>
          <dd>
            <AppendOnly facts={facts} />
          </dd>
        </div>
        <div>
          <dt>Last snapshot</dt>
          <dd>
            <Snapshot facts={facts} />
          </dd>
        </div>
      </dl>
    ))}
  </>
);

const NotKnown = () => <span class="dim">not known</span>;

const Policy = ({ facts: { maxmemoryPolicy: policy } }: { facts: RedisFacts }) => {
  if (policy === undefined) return <NotKnown />;
  return policy === 'noeviction' ? (
    <>
      writes fail <div class="hint">{policy}</div>
    </>
  ) : (
    <>
      <span class="tone is-warn">keys are evicted</span> <div class="hint">{policy}</div>
    </>
  );
};

const AppendOnly = ({ facts: { aof } }: { facts: RedisFacts }) => {
  if (!aof) return <NotKnown />;
  if (!aof.isOn) return <>off</>;
  return aof.isWritten ? <>on</> : <span class="tone is-bad">cannot be written</span>;
};

const Snapshot = ({ facts: { snapshot } }: { facts: RedisFacts }) => {
  if (!snapshot) return <NotKnown />;
  return (
    <>
      {snapshot.isWritten ? (
        <Time at={snapshot.at} show="relative" />
      ) : (
        <span class="tone is-bad">failed</span>
      )}
      <div class="hint" data-moving>
        {snapshot.changesSince.toLocaleString('en-US')} changes since
      </div>
    </>
  );
};
