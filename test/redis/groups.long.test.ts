/** A Cluster, and groups with TLS. A node of a Cluster answers two seconds after its start. */
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { openDesk } from '../support/cli.ts';
import { PASSWORD, SENTINEL_PASSWORD, startRedisGroup } from '../support/redis-group.ts';
import { expectPrefixHolds } from './prefix-holds.ts';

/** A Cluster of one node, which has all slots. */
async function startCluster(tls: boolean) {
  const group = await startRedisGroup({ kind: 'cluster', tls });
  const signIn = {
    username: 'agency',
    password: PASSWORD,
    ...(tls ? { tls: { rejectUnauthorized: false } } : {}),
  };
  const node = new Redis({ port: group.port, ...signIn });
  await node.cluster('ADDSLOTSRANGE', 0, 16_383);
  while (!/cluster_state:ok/.test(String(await node.cluster('INFO'))))
    await new Promise((done) => setTimeout(done, 50));
  onTestFinished(async () => {
    node.disconnect();
    await group.stop();
  });
  return { group, node };
}

test('a prefix holds on a Cluster with a user, also in a backup that is restored', async () => {
  const { group, node } = await startCluster(false);

  await expectPrefixHolds(
    {
      kind: 'cluster',
      nodes: [{ host: '127.0.0.1', port: group.port }],
      username: 'agency',
      password: PASSWORD,
    },
    () => node.keys('*'),
  );
});

test.each(['sentinel', 'cluster'] as const)('a %s with TLS is reached', async (kind) => {
  const { group } =
    kind === 'cluster' ? await startCluster(true) : { group: await startRedisGroup({ kind, tls: true }) };
  if (kind === 'sentinel') onTestFinished(() => group.stop());
  const desk = openDesk({ CARETAKER_BASE_URL: 'http://127.0.0.1:1/api/v6', CARETAKER_API_TOKEN: 't' });
  onTestFinished(() => desk.clear());
  const where =
    kind === 'cluster'
      ? `cluster: ["127.0.0.1:${group.port}"]`
      : `sentinels: ["127.0.0.1:${group.sentinelPort}"], name: main, sentinel_username: watcher, sentinel_password: ${SENTINEL_PASSWORD}`;
  desk.write(
    'config/caretaker.yaml',
    `redis: { ${where}, username: agency, password: ${PASSWORD}, tls: true }\n`,
  );

  const ended = await desk.spawn(['runs'], { NODE_EXTRA_CA_CERTS: group.authority }).ended;

  expect(ended).toMatchObject({ code: 0 });
});
