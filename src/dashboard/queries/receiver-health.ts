/** How the receivers of the configuration do, by their newest notifications. */
import { isPermitted } from '../../access/principal.ts';
import type { Actor } from '../../control/command.ts';
import type { DashboardContext } from '../http/context.ts';

/** The newest notifications that are looked at. */
const LOOKED_AT = 300;

export interface ReceiverHealth {
  name: string;
  /** Missing for one that the configuration does not have. */
  kind?: string;
  /** `unknown`: none of the newest notifications is for it. */
  state: 'healthy' | 'unhealthy' | 'unknown';
  deliveredAt?: number;
  /** Among the newest notifications. */
  pending: number;
  dead: number;
  /** When it is notified, in words. */
  rules: string;
}

/**
 * Those of the configuration, then others that have notifications. A receiver is healthy when its newest attempt that
 * has a result was accepted. Reads 300 notifications.
 */
export async function receiverHealth(
  { control, receivers }: Pick<DashboardContext, 'control' | 'receivers'>,
  { principal }: Actor,
): Promise<ReceiverHealth[]> {
  const deliveries = await control.records.deliveries.list({
    limit: LOOKED_AT,
    permits: ({ policy, account }) => isPermitted(principal, 'viewer', { policy, account }),
  });
  const known = receivers();
  const others = [...new Set(deliveries.map(({ to }) => to))].filter(
    (to) => !known.some(({ name }) => name === to),
  );
  const all = [...known, ...others.map((name) => ({ name, rules: 'The configuration does not have it.' }))];
  return all.map((receiver) => {
    const own = deliveries.filter(({ to }) => to === receiver.name);
    const results = own
      .flatMap(({ attempts }) => attempts)
      .filter(({ is }) => is !== undefined)
      .sort((a, b) => b.at - a.at);
    const deliveredAt = results.find(({ is }) => is === 'delivered')?.at;
    const [newest] = results;
    return {
      ...receiver,
      state: newest === undefined ? 'unknown' : newest.is === 'delivered' ? 'healthy' : 'unhealthy',
      ...(deliveredAt === undefined ? {} : { deliveredAt }),
      pending: own.filter(({ state }) => state === 'pending').length,
      dead: own.filter(({ state }) => state === 'dead').length,
    };
  });
}
