/** All records in Redis: runs, plans, outcomes, intents, their indexes and retention. */
import type { Cluster, Redis } from 'ioredis';
import type { Store } from '../redis/store.ts';
import { AccountStore } from './account-store.ts';
import { EffectStore } from './effect-store.ts';
import { EndStore } from './end-store.ts';
import { type CaretakerEvent, eventIn } from './events.ts';
import { FindingsStore } from './findings-store.ts';
import { FreezeStore } from './freeze-store.ts';
import { GenerationStore } from './generation-store.ts';
import { keys } from './keys.ts';
import { LateStore } from './late-store.ts';
import { LedgerStore } from './ledger-store.ts';
import { LockStore } from './lock-store.ts';
import { OnceStore } from './once-store.ts';
import { OutboxStore } from './outbox-store.ts';
import { PolicyStore } from './policy-store.ts';
import { PresenceStore } from './presence-store.ts';
import { RunStore } from './run-store.ts';
import { TargetStore } from './target-store.ts';
import { TotalsStore } from './totals-store.ts';

export interface Records {
  runs: RunStore;
  targets: TargetStore;
  totals: TotalsStore;
  policies: PolicyStore;
  freeze: FreezeStore;
  accounts: AccountStore;
  effects: EffectStore;
  ends: EndStore;
  findings: FindingsStore;
  late: LateStore;
  ledger: LedgerStore;
  locks: LockStore;
  once: OnceStore;
  outbox: OutboxStore;
  presence: PresenceStore;
  generation: GenerationStore;
  /** Listens to the events of every process. The returned function stops it. */
  listen(listener: (event: CaretakerEvent) => void): Promise<() => Promise<void>>;
}

/** Opens the records over a connection. The caller closes the connection. */
export function openRecords(store: Store): Records {
  const generation = new GenerationStore(store);
  return {
    runs: new RunStore(store),
    targets: new TargetStore(store, generation),
    totals: new TotalsStore(store),
    policies: new PolicyStore(store),
    freeze: new FreezeStore(store),
    accounts: new AccountStore(store),
    effects: new EffectStore(store),
    ends: new EndStore(store),
    findings: new FindingsStore(store),
    late: new LateStore(store),
    ledger: new LedgerStore(store),
    locks: new LockStore(store),
    once: new OnceStore(store),
    outbox: new OutboxStore(store, generation),
    presence: new PresenceStore(store),
    generation,
    async listen(listener) {
      // A connection that listens can do nothing else.
      const subscriber = store.isCluster ? (store as Cluster).duplicate() : (store as Redis).duplicate();
      subscriber.on('message', (_channel: string, message: string) => {
        const event = eventIn(message);
        if (event) listener(event);
      });
      subscriber.on('error', () => undefined); // it reconnects by itself, and a missed event is found in the records
      await subscriber.subscribe(keys.events);
      return async () => {
        // Not `quit`: without Redis, that would wait until it is back.
        subscriber.removeAllListeners('message');
        subscriber.disconnect();
      };
    },
  };
}
