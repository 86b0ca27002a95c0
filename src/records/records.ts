/** All records in Redis: runs, plans, outcomes, intents, their indexes and retention. */
import type { Store } from '../redis/store.ts';
import { AccountStore } from './account-store.ts';
import { AcknowledgementStore } from './acknowledgement-store.ts';
import { ActStore } from './act-store.ts';
import { AnnouncementStore } from './announcement-store.ts';
import { AuditStore } from './audit-store.ts';
import { BatchStore } from './batch-store.ts';
import { DeliveryStore } from './delivery-store.ts';
import { EffectStore } from './effect-store.ts';
import { EndStore, TotalsStore } from './end-store.ts';
import { type CaretakerEvent, Channels, eventIn } from './events.ts';
import { FindingsStore } from './findings-store.ts';
import { FreezeStore } from './freeze-store.ts';
import { GenerationStore } from './generation-store.ts';
import { HoldStore } from './hold-store.ts';
import { keys } from './keys.ts';
import { LabelStore } from './label-store.ts';
import { LedgerStore } from './ledger-store.ts';
import { LockStore } from './lock-store.ts';
import { LookStore } from './look-store.ts';
import { DepthStore, MeasurementStore } from './measurement-store.ts';
import { NoticeStore } from './notice-store.ts';
import { OnceStore } from './once-store.ts';
import { OpenFindingsStore } from './open-findings-store.ts';
import { OutboxStore } from './outbox-store.ts';
import { PlanStore } from './plan-store.ts';
import { PlannedStore } from './planned-store.ts';
import { PolicyStore } from './policy-store.ts';
import { PresenceStore } from './presence-store.ts';
import { PreviewStore } from './preview-store.ts';
import { ProblemStore } from './problem-store.ts';
import { AlertStore, HeartbeatStore, LateStore } from './reported.ts';
import { RunStore } from './run-store.ts';
import { SessionStore } from './session-store.ts';
import { SiteStore } from './site-store.ts';
import { TargetStore } from './target-store.ts';
import { LastPolicyStore, VersionStore } from './version-store.ts';

export interface Records {
  acts: ActStore;
  audit: AuditStore;
  runs: RunStore;
  plans: PlanStore;
  targets: TargetStore;
  totals: TotalsStore;
  policies: PolicyStore;
  freeze: FreezeStore;
  accounts: AccountStore;
  alerts: AlertStore;
  announcements: AnnouncementStore;
  batches: BatchStore;
  deliveries: DeliveryStore;
  depths: DepthStore;
  effects: EffectStore;
  ends: EndStore;
  findings: FindingsStore;
  heartbeats: HeartbeatStore;
  holds: HoldStore;
  labels: LabelStore;
  lastPolicies: LastPolicyStore;
  late: LateStore;
  ledger: LedgerStore;
  locks: LockStore;
  measurements: MeasurementStore;
  notices: NoticeStore;
  once: OnceStore;
  openFindings: OpenFindingsStore;
  acknowledgements: AcknowledgementStore;
  outbox: OutboxStore;
  planned: PlannedStore;
  presence: PresenceStore;
  looks: LookStore;
  previews: PreviewStore;
  problems: ProblemStore;
  sessions: SessionStore;
  sites: SiteStore;
  versions: VersionStore;
  generation: GenerationStore;
  /** Listens to the events of every process. The returned function stops it. */
  listen(listener: (event: CaretakerEvent) => void): Promise<() => Promise<void>>;
}

/** Opens the records over a connection. The caller closes the connection. */
export function openRecords(store: Store): Records {
  const channels = new Channels(store);
  /** Parsed once for all listeners. */
  let last: { message: string; event: CaretakerEvent | undefined } = { message: '', event: undefined };
  const generation = new GenerationStore(store);
  const deliveries = new DeliveryStore(store);
  return {
    acts: new ActStore(store),
    audit: new AuditStore(store),
    runs: new RunStore(store),
    plans: new PlanStore(store),
    targets: new TargetStore(store, generation),
    totals: new TotalsStore(store),
    policies: new PolicyStore(store),
    freeze: new FreezeStore(store),
    accounts: new AccountStore(store),
    alerts: new AlertStore(store),
    announcements: new AnnouncementStore(store),
    batches: new BatchStore(store),
    deliveries,
    depths: new DepthStore(store),
    effects: new EffectStore(store),
    ends: new EndStore(store),
    findings: new FindingsStore(store),
    heartbeats: new HeartbeatStore(store),
    holds: new HoldStore(store, deliveries),
    labels: new LabelStore(store),
    lastPolicies: new LastPolicyStore(store),
    late: new LateStore(store),
    ledger: new LedgerStore(store),
    locks: new LockStore(store),
    measurements: new MeasurementStore(store, channels),
    notices: new NoticeStore(store, deliveries, channels),
    once: new OnceStore(store),
    openFindings: new OpenFindingsStore(store),
    acknowledgements: new AcknowledgementStore(store),
    outbox: new OutboxStore(store, generation),
    planned: new PlannedStore(store),
    presence: new PresenceStore(store),
    looks: new LookStore(store),
    previews: new PreviewStore(store),
    problems: new ProblemStore(store),
    sessions: new SessionStore(store),
    sites: new SiteStore(store),
    versions: new VersionStore(store),
    generation,
    listen: (listener) =>
      channels.listen(keys.events, (message) => {
        if (message !== last.message) last = { message, event: eventIn(message) };
        if (last.event) listener(last.event);
      }),
  };
}
