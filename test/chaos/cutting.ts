/** A proxy between daemons and the service that cuts connections at random bytes, in both directions. */
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { openRelay } from '../support/relay.ts';

/**
 * The maximum number of bytes in one direction before its connection is cut: some eighty requests, and as
 * many answers.
 */
const REQUEST_BYTES = 20_000;
const ANSWER_BYTES = 300_000;

interface CuttingProxy {
  /** The service's URL through the proxy. */
  url: string;
  /** How many connections were cut. */
  cuts(): number;
  stop(): void;
}

/** Each connection is cut after a random number of bytes, for each direction. */
export async function startCuttingProxy(url: string, random: () => number): Promise<CuttingProxy> {
  const { hostname, port, pathname } = new URL(url);
  let cuts = 0;
  const lead = (from: Socket, to: Socket, most: number) => {
    let left = Math.ceil(random() * most);
    from.on('data', (bytes: Buffer) => {
      if (bytes.length < left) {
        left -= bytes.length;
        to.write(bytes);
        return;
      }
      // The bytes must be sent before the connection is closed.
      cuts += 1;
      from.removeAllListeners('data');
      to.write(bytes.subarray(0, left), () => {
        from.destroy();
        to.destroy();
      });
    });
  };
  const relay = openRelay({ host: hostname, port: Number(port) }, (near, far) => {
    lead(near, far, REQUEST_BYTES);
    lead(far, near, ANSWER_BYTES);
  });
  relay.server.listen(0, '127.0.0.1');
  await once(relay.server, 'listening');
  const { port: own } = relay.server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${own}${pathname}`, cuts: () => cuts, stop: () => relay.close() };
}
