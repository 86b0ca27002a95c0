/**
 * Each end of a run is told to a receiver that is slow and often refuses. What was sent may come again when its process
 * was killed meanwhile, with the same id, and not after its delivery was recorded.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { apiCall } from '../../jobs/api-call/job.ts';
import { isFinal } from '../../src/run/moves.ts';
import { type Story, wrongOf } from './story.ts';

const NAME = 'chaos-notice';
const SITES = 3;
const MOST = 10_000;
/** The longest time that the receiver takes to answer, in real milliseconds, and how often it refuses. */
const SLOW_MS = 1_500;
const REFUSED = 0.2;

/** When each message was received, by its id. */
const received = new Map<string, number>();

export const notices: Story = {
  name: NAME,
  operations: ['enableSiteActivityLogs', 'disableSiteActivityLogs'],
  begin: (_sandbox, at) => ({
    policy: (round) => ({
      job: 'api-call',
      select: { from: 'listSites', filters: {}, limit: SITES },
      options: apiCall.options.parse(
        (at + round) % 2 === 0
          ? { operation: 'disableSiteActivityLogs', confirm: 'disableSiteActivityLogs' }
          : { operation: 'enableSiteActivityLogs' },
      ),
      notify: [{ on: ['succeeded', 'partial', 'failed', 'stopped', 'cancelled'], to: 'ops' }],
    }),
    rounds: 6,
    planned: () => SITES,
    lies: () => [],
  }),
  async atEnd({ records }) {
    const wrong: string[] = [];
    const runs = await records.runs.list({ policy: NAME, limit: MOST });
    const deliveries = await records.deliveries.list({ policy: NAME, limit: MOST });
    for (const { id, status } of runs) {
      const own = deliveries.filter(({ run, event }) => run === id && event === `run.${status}`);
      const [delivery] = own;
      if (!isFinal(status) || !delivery || delivery.state === 'pending')
        return { wrong, waitingFor: `the message about ${id}` };
      const times = received.get(delivery.id) ?? 0;
      const says = `${delivery.event} of ${id} was sent ${times} times (${JSON.stringify(delivery.attempts)})`;
      wrong.push(
        ...wrongOf(says, [
          [own.length > 1, `and there are ${own.length} messages about it`],
          [delivery.state !== 'delivered', `and is ${delivery.state}`],
          [times === 0, 'and is delivered'],
          [times > delivery.tries, `and only ${delivery.tries} attempts are recorded`],
          [delivery.attempts.filter(({ is }) => is === 'delivered').length !== 1, 'and not delivered once'],
        ]),
      );
    }
    const known = new Set(deliveries.map(({ id }) => id));
    for (const id of received.keys()) if (!known.has(id)) wrong.push(`${id} is not a message about a run`);
    received.clear();
    return { wrong };
  },
};

/** The receiver; `random` gives numbers from 0 to 1. */
export async function startSlowReceiver(random: () => number): Promise<{ url: string; stop(): void }> {
  const server = createServer((request, response) => {
    const id = String(request.headers['webhook-id']);
    received.set(id, (received.get(id) ?? 0) + 1);
    const status = random() < REFUSED ? 503 : 204;
    setTimeout(() => response.writeHead(status).end(), random() * SLOW_MS);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
