/** Every key of the records. One hash tag, so that scripts over several keys work on a Cluster. */
export const PREFIX = '{caretaker}';

export const keys = {
  runs: `${PREFIX}:runs`,
  runsOfPolicy: (policy: string) => `${PREFIX}:runs:policy:${policy}`,
  runsInStatus: (status: string) => `${PREFIX}:runs:status:${status}`,
  runsOfTarget: (account: string, target: string) => `${PREFIX}:runs:target:${account}:${target}`,
  /** The labels of all targets that have an entry in `runsOfTarget`: see `label-store.ts`. */
  labels: `${PREFIX}:labels`,
  /** The runs of a policy that have ended, each at its own time. */
  ends: (policy: string) => `${PREFIX}:ends:${policy}`,
  activeRuns: (account: string) => `${PREFIX}:active:${account}`,
  /** The accounts that have active runs. */
  activeAccounts: `${PREFIX}:active-accounts`,
  run: (id: string) => `${PREFIX}:run:${id}`,
  order: (id: string) => `${PREFIX}:run:${id}:order`,
  targets: (id: string) => `${PREFIX}:run:${id}:targets`,
  pending: (id: string) => `${PREFIX}:run:${id}:pending`,
  acting: (id: string) => `${PREFIX}:run:${id}:acting`,
  following: (id: string) => `${PREFIX}:run:${id}:following`,
  waiting: (id: string) => `${PREFIX}:run:${id}:waiting`,
  deadlines: (id: string) => `${PREFIX}:run:${id}:deadlines`,
  reasons: (id: string) => `${PREFIX}:run:${id}:reasons`,
  only: (id: string) => `${PREFIX}:run:${id}:only`,
  /** The places that groups of its targets take, and the targets that wait for one: see `group-places.ts`. */
  places: (id: string) => `${PREFIX}:run:${id}:places`,
  parked: (id: string) => `${PREFIX}:run:${id}:parked`,
  /** The groups of each of its targets, where there are limits for them. */
  groups: (id: string) => `${PREFIX}:run:${id}:groups`,
  excluded: (id: string) => `${PREFIX}:run:${id}:excluded`,
  /** What was planned for each of its targets, where it looks again before it acts. */
  planned: (id: string) => `${PREFIX}:run:${id}:planned`,
  /** The targets of a saved plan, by its hash. */
  savedPlan: (hash: string) => `${PREFIX}:saved-plan:${hash}`,
  /** How far its plan is made, and the names of the items that are processed: until the plan is complete. */
  progress: (id: string) => `${PREFIX}:run:${id}:progress`,
  listed: (id: string) => `${PREFIX}:run:${id}:listed`,
  /** The targets of batches that have not begun, by batch and place in the plan. */
  later: (id: string) => `${PREFIX}:run:${id}:later`,
  /** Targets that were rejected and have no outcome yet, with the detail of it. */
  rejected: (id: string) => `${PREFIX}:run:${id}:rejected`,
  /** What the gates of a run saw, by the batch before them. */
  gates: (id: string) => `${PREFIX}:run:${id}:gates`,
  /** What the run writes to the sites that it worked on, by site. */
  records: (id: string) => `${PREFIX}:run:${id}:records`,
  /** What ended in the hour that begins at this time. */
  totals: (hour: number | '*') => `${PREFIX}:totals:${hour}`,
  freeze: `${PREFIX}:freezes`,
  policy: (name: string) => `${PREFIX}:policy:${name}`,
  /**
   * The ledger of a policy: what was decided about each of its scheduled times; and the policies that have a
   * ledger.
   */
  ledger: (policy: string) => `${PREFIX}:ledger:${policy}`,
  ledgers: `${PREFIX}:ledgers`,
  blocked: (account: string) => `${PREFIX}:blocked:${account}`,
  supervised: `${PREFIX}:supervised`,
  /** The address of the service that the records of each account belong to. */
  addresses: `${PREFIX}:addresses`,
  durations: (account: string) => `${PREFIX}:durations:${account}`,
  /** The runs and targets that hold a site of the account. */
  site: (account: string, site: string) => `${PREFIX}:site:${account}:${site}`,
  /** What the service showed of the sites of an account, by id; and when the sites of each account were read. */
  sites: (account: string) => `${PREFIX}:sites:${account}`,
  sitesRead: `${PREFIX}:sites-read`,
  /** The owners of the effects that became known on one UTC day, by operation and id. */
  effects: (account: string, day: string) => `${PREFIX}:effects:${account}:${day}`,
  lock: (name: string) => `${PREFIX}:lock:${name}`,
  presence: `${PREFIX}:presence`,
  /** A key that signs one browser in to a dashboard, by its hash. */
  signIn: (hash: string) => `${PREFIX}:presence:sign-in:${hash}`,
  /** A session of the dashboard, by the hash of its id, and the sessions of a user by when they were used. */
  session: (hash: string) => `${PREFIX}:presence:session:${hash}`,
  sessionsOf: (user: string) => `${PREFIX}:presence:sessions:${user}`,
  /** The policies that a process has read, by name. */
  policiesRead: (process: string) => `${PREFIX}:presence:${process}:policies`,
  /** How many entries the queues had in each minute: see `measurement-store.ts`. */
  queueDepth: `${PREFIX}:presence:queue-depth`,
  /** The version of each policy that was active last. */
  lastPolicies: `${PREFIX}:last-policies`,
  policyContents: (process: string) => `${PREFIX}:presence:${process}:policy-contents`,
  /** The version of the records: see `migrations/migrate.ts`. */
  schema: `${PREFIX}:schema`,
  /** The generation of the records: see `generation-store.ts`. */
  generation: `${PREFIX}:generation`,
  /** The holder of a key of `once-store.ts`. */
  once: (account: string, key: string) => `${PREFIX}:once:${account}:${key}`,
  /** The open announcements of a policy: see `announcement-store.ts`. */
  announcements: (account: string, policy: string) => `${PREFIX}:announcements:${account}:${policy}`,
  /** The accounts and policies that have had announcements, as JSON. */
  announcing: `${PREFIX}:announcing`,
  /** The findings of a policy's last runs in an account, and when the latest whole run began of which they are. */
  findings: (account: string, policy: string) => `${PREFIX}:findings:${account}:${policy}`,
  findingsAt: (account: string, policy: string) => `${PREFIX}:findings-at:${account}:${policy}`,
  /** The acknowledged findings of a policy: see `acknowledgement-store.ts`. */
  acknowledged: (account: string, policy: string) => `${PREFIX}:acknowledged:${account}:${policy}`,
  /** The indexes of the findings of a policy in an account, and the policies that have some: see `finding-indexes.ts`. */
  findingPolicies: `${PREFIX}:finding-policies`,
  findingsSince: (account: string, policy: string, severity: string) =>
    `${PREFIX}:findings-since:${account}:${policy}:${severity}`,
  findingsOfSites: (account: string, policy: string) => `${PREFIX}:findings-of-sites:${account}:${policy}`,
  findingsResolved: (account: string, policy: string) => `${PREFIX}:findings-resolved:${account}:${policy}`,
  findingsDays: (account: string, policy: string) => `${PREFIX}:findings-days:${account}:${policy}`,
  /** The sites that something is to be written to: by when they are due, since when, and what. */
  outbox: (account: string) => `${PREFIX}:outbox:${account}`,
  outboxSince: (account: string) => `${PREFIX}:outbox-since:${account}`,
  outboxSite: (account: string, site: string) => `${PREFIX}:outbox:${account}:${site}`,
  outboxAccounts: `${PREFIX}:outbox-accounts`,
  /** The custom work entries of a day that are written, by policy and site. */
  entries: (account: string, day: string) => `${PREFIX}:entries:${account}:${day}`,
  /** The notes of a policy, by site. */
  livingNotes: (account: string, policy: string) => `${PREFIX}:living-notes:${account}:${policy}`,
  /** What people may have to be notified about, by time: see `notice-store.ts`. */
  notices: `${PREFIX}:notices`,
  /** Deliveries by when they were made, and the pending ones by when they are due. */
  deliveries: `${PREFIX}:deliveries`,
  dueDeliveries: `${PREFIX}:deliveries:due`,
  /** The last delivery to each receiver about each subject. */
  lastDeliveries: `${PREFIX}:deliveries:last`,
  delivery: (id: string) => `${PREFIX}:delivery:${id}`,
  /** When a heartbeat was sent last: see `reported.ts`. */
  heartbeat: (name: string) => `${PREFIX}:heartbeat:${name}`,
  /** What receivers were notified of, and is not over: see `problem-store.ts`. */
  problemsOfPolicy: (policy: string) => `${PREFIX}:problems:policy:${policy}`,
  problemsOfAccount: (account: string) => `${PREFIX}:problems:account:${account}`,
  /** What is wrong now, by name, and when a process worked last: see `reported.ts`. */
  alerts: `${PREFIX}:alerts`,
  /** Messages that are held, and when they are due: see `hold-store.ts`. */
  holds: `${PREFIX}:holds`,
  hold: (name: string) => `${PREFIX}:hold:${name}`,
  audit: `${PREFIX}:audit`,
  /** The versions of a policy: see `version-store.ts`. */
  versions: (policy: string) => `${PREFIX}:policy-versions:${policy}`,
  /** What planning of a policy's last run saw: see `look-store.ts`. */
  look: (account: string, policy: string) => `${PREFIX}:look:${account}:${policy}`,
  /** The last plan of a policy that a person made to look at it. */
  preview: (policy: string) => `${PREFIX}:preview:${policy}`,
  /** What its run was estimated to cost. */
  estimate: (policy: string) => `${PREFIX}:estimate:${policy}`,
  /** An act with an idempotency key: see `act-store.ts`. */
  act: (owner: string, key: string) => `${PREFIX}:act:${owner}:${key}`,
  events: `${PREFIX}:events`,
  /** A channel, as `events` is. */
  measurements: `${PREFIX}:measurements`,
} as const;

/** All keys that belong to one run and are removed with it, by the names that scripts use. */
export const keysOfRun = (id: string) => ({
  run: keys.run(id),
  order: keys.order(id),
  targets: keys.targets(id),
  pending: keys.pending(id),
  acting: keys.acting(id),
  following: keys.following(id),
  waiting: keys.waiting(id),
  deadlines: keys.deadlines(id),
  reasons: keys.reasons(id),
  excluded: keys.excluded(id),
  planned: keys.planned(id),
  progress: keys.progress(id),
  listed: keys.listed(id),
  only: keys.only(id),
  groups: keys.groups(id),
  places: keys.places(id),
  parked: keys.parked(id),
  later: keys.later(id),
  rejected: keys.rejected(id),
  gates: keys.gates(id),
  records: keys.records(id),
});
