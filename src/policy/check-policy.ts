/**
 * Reads one policy of a file and checks it against the jobs, accounts, operations and notifications.
 */
import { z } from 'zod';
import type { List } from '../contract/list.ts';
import type { AnyJob } from '../job/job.ts';
import type { Registry } from '../job/registry.ts';
import { candidatesOf, listDeclared, sourceOf } from '../job/source.ts';
import { jobOfSteps, listOf, whyNoStep } from '../job/steps.ts';
import type { Settings } from '../settings/settings.ts';
import { closest, suggestionFor } from '../suggest.ts';
import { dayFault, looksLikeDay, weekdays } from '../yaml/days.ts';
import type { Diagnostic } from '../yaml/diagnostic.ts';
import { readStrictly, schemasAt } from '../yaml/read-strictly.ts';
import { typographicTexts } from '../yaml/typographic-quotes.ts';
import type { Path, Remark, YamlFile } from '../yaml/yaml-file.ts';
import { recordFindings, rolloutFindings } from './check-record.ts';
import {
  conditionOn,
  isIncomplete,
  isSourceKnown,
  type PartialSelect,
  type Place,
  selectedOf,
  selectFindings,
  uselessConditions,
} from './check-select.ts';
import type { ExpandedPolicy } from './expand-file.ts';
import { diagnosticAt, isBrokenAt, isLiteral, sourceIn, typographicIn } from './expanded-place.ts';
import { blackoutRemark, misreadNumbers, rareDays, uselessLimit, uselessTimes } from './likely-mistakes.ts';
import { plainOf } from './located-value.ts';
import type { Policy } from './policy.ts';
import { mustBeOperator, PolicyEntry } from './policy-file.ts';
import { namesCalendar, targetMsOf, toPolicy } from './to-policy.ts';

export interface Known {
  registry: Registry;
  settings?: Settings | undefined;
}

export interface ReadPolicy {
  /** Undefined when there are findings. */
  policy?: Policy;
  /** As far as it could be read. */
  name?: string;
  /** The policy that it follows, as far as it could be read. */
  after?: string;
  findings: Diagnostic[];
  /** What is valid, and probably an error. */
  warnings: Diagnostic[];
}

/** An expanded policy of a file as `Policy`, or everything that is wrong with it. */
export function readPolicy(yaml: YamlFile, expanded: ExpandedPolicy, known: Known): ReadPolicy {
  const { path, root } = expanded;
  const value = plainOf(root);
  const reportedElsewhere = new Set<Diagnostic>();
  const place = (inner: Path, remark: Remark) => {
    const finding = diagnosticAt(yaml, expanded, inner, {
      ...remark,
      ...hintOnKey(inner, remark),
      ...hintOnFilter(inner, remark, () => filtersFor(value, known)),
    });
    if (isBrokenAt(expanded, inner)) reportedElsewhere.add(finding);
    return finding;
  };
  const read = readStrictly(PolicyEntry, value, place, [], path);
  // Valid parts are checked even if others have errors, so that all errors are shown together.
  const parts: PartialPolicy =
    'value' in read ? read.value : ((readable(PolicyEntry, value) as PartialPolicy | undefined) ?? {});
  const used = jobsMeant(parts, known);
  const job = jobForAll(used);
  // An editor does not see which job or list a placeholder stands for.
  const isJobWritten = [...used.map((one) => [...one.path, 'job']), ['select', 'from']].every((one) =>
    isLiteral(expanded, one),
  );
  const placeOfJob: Place = (inner, { form, ...remark }) => {
    const isJoinOfDefaults = expanded.hasDefaults && inner[1] === 'join';
    return place(inner, { ...remark, form: form && isJobWritten && !isJoinOfDefaults });
  };
  // What one option says of another has to be written beside it.
  const placeOfOption =
    ({ given, path: at }: UsedJob): Place =>
    (inner, { form, ...remark }) => {
      const keys = Object.keys(given as object);
      const isWritten =
        !expanded.hasDefaults && keys.every((key) => isLiteral(expanded, [...at, 'with', key]));
      return placeOfJob(inner, { ...remark, form: form && isWritten });
    };
  const options = used.map(({ job: one, given, path: at }) =>
    one ? readStrictly(one.options, given, placeOfJob, [...at, 'with']) : undefined,
  );
  const blackedOut = blackoutRemark(parts, known.settings?.calendars ?? {}, Date.now());
  // An unknown list is reported already.
  const selected = isMisread(parts, value) ? undefined : (parts.select ?? {});
  const findings = [
    ...('findings' in read ? read.findings : []),
    ...namesFindings(parts, known, place),
    ...(selected && job ? selectFindings(selected, job, placeOfJob) : []),
    ...stepFindings(used, place),
    ...used.flatMap((one, i) => optionFindings(options[i], one, parts, placeOfOption(one))),
    ...recordFindings(parts, job, place),
    ...rolloutFindings(parts, job, place),
    ...misreadNumbers(value, (inner) => sourceIn(yaml, expanded, inner)).map(([inner, remark]) =>
      place(inner, remark),
    ),
    ...(blackedOut?.certain ? [place(['schedule', 'blackout'], blackedOut)] : []),
    ...expanded.faults.map(([at, remark]) => yaml.finding(at, remark)),
  ].filter((finding) => !reportedElsewhere.has(finding));
  const warnings = [
    ...(blackedOut && !blackedOut.certain ? [place(['schedule', 'blackout'], blackedOut)] : []),
    ...[parts.schedule?.cron ?? []].flat().flatMap((cron, i) => {
      const remark = rareDays(cron);
      const at = Array.isArray(parts.schedule?.cron) ? [i] : [];
      return remark ? [place(['schedule', 'cron', ...at], remark)] : [];
    }),
    ...typographicTexts(value, (inner) => typographicIn(yaml, expanded, inner)).map(([inner, remark]) =>
      place(inner, remark),
    ),
    ...uselessLimit(parts).map((remark) => place(['select', 'limit'], remark)),
    ...uselessTimes(parts).map(([key, remark]) => place([key], remark)),
    ...(selected && job ? uselessConditions(selected, job) : []).map(([at, remark]) => place(at, remark)),
  ];
  const link = linkOf(parts, expanded);
  const given = options.flatMap((one) => (one && 'value' in one ? [{ options: one.value }] : []));
  const [only] = given;
  if (findings.length > 0 || root.isBroken || !('value' in read) || !only || given.length < used.length)
    return { ...link, findings, warnings };
  return {
    ...link,
    findings,
    warnings,
    policy: toPolicy(
      read.value,
      { work: read.value.steps ? { steps: given } : only, calendars: known.settings?.calendars ?? {} },
      { file: yaml.file, line: yaml.lineOf(path) },
    ),
  };
}

/** The name of the policy and the one that it follows, as far as they could be read. */
function linkOf(
  { name, schedule }: PartialPolicy,
  expanded: ExpandedPolicy,
): Pick<ReadPolicy, 'name' | 'after'> {
  const after = schedule?.after?.policy;
  return {
    ...(name === undefined || isBrokenAt(expanded, ['name']) ? {} : { name }),
    ...(after === undefined || isBrokenAt(expanded, ['schedule', 'after', 'policy']) ? {} : { after }),
  };
}

/** A job that a policy uses: its own, or that of a step. */
interface UsedJob {
  /** For a misspelt name it is the closest job, so that the rest can be checked. */
  job: AnyJob | undefined;
  name: string | undefined;
  /** Its options as they are written. */
  given: unknown;
  /** Where `job` and `with` are. */
  path: Path;
}

function jobsMeant({ job, with: given = {}, steps }: PartialPolicy, { registry }: Known): UsedJob[] {
  const usedAt = (path: Path, name: string | undefined, options: unknown): UsedJob => {
    const meant = name === undefined || registry.get(name) ? name : closest(name, registry.names());
    return { path, name, given: options, job: meant === undefined ? undefined : registry.get(meant) };
  };
  if (!Array.isArray(steps)) return [usedAt([], job, given)];
  return steps.map((step, i) => usedAt(['steps', i], step?.job, step?.with ?? {}));
}

/** The job that the selection is checked against; undefined when a step has none, or cannot be one. */
function jobForAll(used: readonly UsedJob[]): AnyJob | undefined {
  const [only] = used;
  if (used.length < 2) return only?.job;
  const steps = used.flatMap(({ job, name = '' }) => (job ? [{ job, name }] : []));
  return steps.length === used.length ? jobOfSteps(steps) : undefined;
}

/** All steps work on the items of one list. */
function stepFindings(used: readonly UsedJob[], place: Place): Diagnostic[] {
  if (used.length < 2) return [];
  const jobs = used.flatMap(({ job }) => job ?? []);
  const list = listOf(jobs);
  const decides = jobs.find(({ candidates }) => candidates === list);
  return used.flatMap(({ job, path }) => {
    if (!job) return [];
    const why = whyNoStep(job);
    if (why !== undefined) return [place([...path, 'job'], { message: why })];
    if (job.candidates === 'any' || job.candidates === list) return [];
    const message = `The job ${job.name} works on ${job.candidates}, but ${decides?.name} on ${list}: all steps of a policy work on the same list.`;
    return [place([...path, 'job'], { message, suggestion: 'write a policy of its own' })];
  });
}

/** Whether where the candidates come from is written, and cannot be read. */
function isMisread({ select }: PartialPolicy, value: unknown): boolean {
  const keys = ['from', 'for_each', 'join'] as const;
  const written = (value as { select?: Partial<Record<(typeof keys)[number], unknown>> } | null)?.select;
  const isLost = keys.some((key) => written?.[key] !== undefined && select?.[key] === undefined);
  return isLost || isIncomplete(select ?? {});
}

/** Words that people write at the top of a policy, by what to do instead. */
const instead = {
  'to stop its scheduled runs: caretaker policies pause <name>':
    'enabled enable disabled disable paused pause active suspended suspend',
  'write it under "schedule"': 'cron timezone after jitter',
  'write it under "select"': 'from for_each join filters where',
  'write it under "limits"': 'concurrency max_targets max_percent per_client per_tag',
};
/** The same of what a policy or a step gives its job. */
const insteadOfWith = {
  'write what the job needs under "with"': 'options params parameters args arguments input inputs payload',
};

/** A suggestion for such a word. */
function hintOnKey(path: Path, { at }: Remark): Pick<Remark, 'suggestion'> {
  const isTop = path.length === 1;
  if (at !== 'key' || !(isTop || (path.length === 3 && path[0] === 'steps'))) return {};
  const known = Object.entries({ ...(isTop && instead), ...insteadOfWith });
  const [found] = known.filter(([, words]) => words.split(' ').includes(String(path.at(-1))));
  return found ? { suggestion: found[0] } : {};
}

/**
 * A suggestion for a name under `select.filters` that was refused before it was compared with the list's
 * filters.
 */
function hintOnFilter(
  [part, filters, field, ...operator]: Path,
  { at, suggestion, message }: Remark,
  known: () => List['filters'],
): Pick<Remark, 'suggestion'> {
  if (
    part === 'select' &&
    filters === 'filters' &&
    operator.length === 0 &&
    message.endsWith(`${mustBeOperator}.`)
  )
    return hintOnOperator(String(field), known());
  if (at !== 'key' || suggestion !== undefined || part !== 'select' || filters !== 'filters') return {};
  const fields = known();
  if (operator.length === 0) return { suggestion: suggestionFor(String(field), Object.keys(fields)) };
  const filter = Object.hasOwn(fields, String(field)) ? fields[String(field)] : undefined;
  return { suggestion: suggestionFor(String(operator[0]), filter?.operators ?? []) };
}

/** What to write in place of `tags: Premium`, where an operator and a value belong. */
function hintOnOperator(field: string, fields: List['filters']): Pick<Remark, 'suggestion'> {
  const filter = Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (!filter) return { suggestion: suggestionFor(field, Object.keys(fields)) };
  return { suggestion: `write ${conditionOn(field, filter)}` };
}

/** The filters of the list of candidates, as far as the valid parts of the policy name it. */
function filtersFor(value: unknown, known: Known): List['filters'] {
  const parts = (readable(PolicyEntry, value) as PartialPolicy | undefined) ?? {};
  const job = jobForAll(jobsMeant(parts, known));
  const from = parts.select?.from;
  if (!job || (job.candidates === 'any' && from === undefined)) return {};
  return listDeclared(candidatesOf(job, from === undefined ? {} : { from }))?.filters ?? {};
}

type PartialPolicy = Partial<Omit<PolicyEntry, 'select'> & { select: PartialSelect }>;

/** The part of `value` that its schema accepts: of a map with errors, the valid keys. */
function readable(schema: z.core.$ZodType, value: unknown): unknown {
  const read = z.safeParse(schema, value);
  if (read.success) return read.data;
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value).flatMap(([key, inner]): [string, unknown][] => {
    // A map where a list is expected has no valid part.
    const [child] = schemasAt(schema, [])
      .filter((one) => !(one instanceof z.ZodArray))
      .flatMap((one) => schemasAt(one, [key]));
    const part = child && readable(child, inner);
    return part === undefined ? [] : [[key, part]];
  });
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

/** Everything that the policy refers to by name has to exist. */
function namesFindings(parts: PartialPolicy, known: Known, place: Place): Diagnostic[] {
  const { registry, settings } = known;
  const unknown = (path: Path, what: string, name: string, names: string[], more = ''): Diagnostic[] => {
    if (names.includes(name)) return [];
    const form = what === 'job';
    return [
      place(path, {
        message: `There is no ${what} "${name}"${more}.`,
        suggestion: suggestionFor(name, names),
        form,
      }),
    ];
  };
  const noDay = (path: Path, text: string): Diagnostic[] | undefined => {
    const fault = dayFault(text);
    const form = looksLikeDay(text);
    return fault === undefined ? undefined : [place(path, { message: `"${text}" ${fault}.`, form })];
  };
  const used = jobsMeant(parts, known);
  const unjudged = used.every(({ job }) => job) ? '' : ', so "select" and "with" were not checked';
  const accounts = settings && Object.keys(settings.accounts);
  const notifications = settings && Object.keys(settings.notifications);
  const calendars = settings && Object.keys(settings.calendars);
  return [
    ...used.flatMap(({ name, path }) =>
      name === undefined ? [] : unknown([...path, 'job'], 'job', name, registry.names(), unjudged),
    ),
    ...(parts.account === undefined || !accounts
      ? []
      : unknown(['account'], 'account', parts.account, accounts)),
    ...(parts.schedule?.blackout ?? []).flatMap((entry, i) =>
      namesCalendar(entry)
        ? (noDay(['schedule', 'blackout', i], entry) ??
          (calendars
            ? unknown(['schedule', 'blackout', i], 'calendar', entry, [...calendars, ...weekdays])
            : []))
        : [],
    ),
    ...(parts.notify ?? []).flatMap(({ to, route = [] }, i) =>
      [
        { to, path: ['notify', i] },
        ...route.map((rule, j) => ({ to: rule.to, path: ['notify', i, 'route', j] })),
      ].flatMap(({ to, path }) => {
        if (!notifications) return [];
        const heartbeat = settings.notifications[to]?.heartbeat;
        if (heartbeat && notifications.includes(to))
          return [place([...path, 'to'], { message: `"${to}" is a heartbeat, which gets no messages.` })];
        return unknown([...path, 'to'], 'notification', to, notifications);
      }),
    ),
  ];
}

type Options = ReturnType<typeof readStrictly>;

/** Errors in `with`: those that the schema of the job's options finds, or else those that the job finds. */
function optionFindings(
  options: Options | undefined,
  { job, path: at }: UsedJob,
  { select, timeout }: PartialPolicy,
  place: Place,
): Diagnostic[] {
  if (!job || !options) return [];
  if ('findings' in options) return options.findings;
  // A missing list is reported as such.
  if (!isSourceKnown(select ?? {}, job)) return [];
  const faults = job.check?.(options.value as never, {
    source: sourceOf(job, selectedOf(select ?? {})),
    filters: Object.keys(select?.filters ?? {}),
    // A time limit that could not be read cannot be exceeded.
    targetMs: timeout ? targetMsOf(timeout) : Number.POSITIVE_INFINITY,
  });
  return (faults ?? []).map(({ path, ...remark }) => place([...at, 'with', ...path], remark));
}
