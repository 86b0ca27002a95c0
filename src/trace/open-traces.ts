/**
 * Makes spans with the SDK of OpenTelemetry and sends them. Only this file and those it imports load the SDK, so
 * it is imported when traces are on.
 *
 * A run lasts hours and is worked on by many processes. So no span is kept open: each is made when what it stands
 * for has ended, with the times of the records, by the process that wrote the end. Their ids are derived,
 * so that they fit together.
 */
import { createHash, randomBytes } from 'node:crypto';
import {
  type Attributes,
  type Context,
  context,
  DiagLogLevel,
  diag,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  type IdGenerator,
  NodeTracerProvider,
  type ReadableSpan,
  type Sampler,
  SamplingDecision,
  type SamplingResult,
  type Span,
  type SpanProcessor,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node';
import { BullMQOtel } from 'bullmq-otel';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { scrubOnce } from '../secrets.ts';
import { openExporter } from './exporter.ts';
import {
  followSpan,
  type Place,
  RUN,
  requestSpan,
  runSpan,
  type SpanFacts,
  targetSpan,
} from './span-facts.ts';
import type { Traces } from './traces.ts';
import type { Wanted } from './variables.ts';

// The ids of traces and spans. They are derived from what they stand for, so that every process that works on a
// run, today or tomorrow, adds to the same trace, and a span may name a parent that is sent hours later.

const digest = (...parts: readonly (string | number)[]): string =>
  createHash('sha256').update(parts.join('\n')).digest('hex');

/**
 * The trace of a run. `installation` tells apart the runs of two installations: they have the same id when both
 * have the same policy.
 */
export const traceIdOf = (installation: string, run: string): string =>
  digest('run', installation, run).slice(0, 32);

/** The span of a run, of a target of it, or of the work of a target that is followed since a time. */
export const spanIdOf = (trace: string, ...what: readonly (string | number)[]): string =>
  digest('span', trace, ...what).slice(0, 16);

// Adds the attributes that the conventions of OpenTelemetry ask of messaging spans to those of BullMQ.

/** The name of the tracer of BullMQ's spans. */
export const BULLMQ = 'bullmq';

/** BullMQ names a span `<operation> <queue>`. */
export class MessagingAttributes implements SpanProcessor {
  onStart(span: Span): void {
    if (span.instrumentationScope.name !== BULLMQ) return;
    const [operation = '', queue = ''] = span.name.split(' ');
    const type = operation === 'complete' || operation === 'fail' ? 'settle' : types[span.kind];
    span.setAttributes({
      'messaging.system': 'bullmq',
      'messaging.destination.name': queue,
      'messaging.operation.name': operation,
      ...(type === undefined ? {} : { 'messaging.operation.type': type }),
    });
  }

  onEnd(_span: ReadableSpan): void {}
  async forceFlush(): Promise<void> {}
  async shutdown(): Promise<void> {}
}

const types: Partial<Record<SpanKind, string>> = {
  [SpanKind.PRODUCER]: 'send',
  [SpanKind.CONSUMER]: 'process',
};

export interface TracesOptions {
  protocol: Extract<Wanted, { is: 'on' }>['protocol'];
  env: NodeJS.ProcessEnv;
  /** The id of the records; another Redis has another one. */
  installation: () => string;
  /** The name of this process. */
  instance: string;
  version: string;
  log: Log;
}

/** How long a stopping process waits until the receiver has its spans. */
const CLOSE_TIMEOUT_MS = 3_000;
/** How many runs are remembered with their ids. More are derived again. */
const MAX_RUNS = 1_000;

/** The ids that the next span gets; random ones where there are none. */
class ChosenIds implements IdGenerator {
  trace: string | undefined;
  span: string | undefined;
  generateTraceId = (): string => this.trace ?? randomBytes(16).toString('hex');
  generateSpanId = (): string => this.span ?? randomBytes(8).toString('hex');
}

/** Opens the traces of this process. Sends nothing yet. */
export async function openTraces(options: TracesOptions): Promise<Traces> {
  const { protocol, env, installation, instance, version, log } = options;
  diag.setLogger(onceEach(log), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const ids = new ChosenIds();
  const sampler = new RunSampler();
  const provider = new NodeTracerProvider({
    sampler,
    idGenerator: ids,
    resource: resourceOf(instance, version),
    spanProcessors: [new MessagingAttributes(), new BatchSpanProcessor(await openExporter(protocol, log))],
  });
  // BullMQ's spans are made through the globals of the API.
  provider.register();
  const runs = new TracedRuns(installation, samplesTrace(env));
  const emit = emitter(provider.getTracer('caretaker', version), ids, sampler);
  const note = (run: string, facts: SpanFacts | undefined) => {
    const traceId = facts && runs.traceOf(run);
    if (facts && traceId !== undefined) emit(traceId, facts);
  };
  return {
    traceOf: (run) => runs.traceOf(run),
    runEnded: (run) => note(run.id, runSpan(run)),
    targetEnded: (run, target) => note(run.id, targetSpan(run, target)),
    followed: (run, work) => note(run.id, followSpan(run, work)),
    requestsOf: (work) =>
      runs.traceOf(work.run) === undefined ? undefined : (sent) => note(work.run, requestSpan(work, sent)),
    within(run, work) {
      const traceId = run === undefined ? undefined : runs.traceOf(run);
      return context.with(traceId === undefined ? ROOT_CONTEXT : below(traceId, RUN), work);
    },
    telemetry: new BullMQOtel({ tracerName: BULLMQ, version }),
    async close() {
      const failed = (error: unknown) => log.debug({ err: error }, 'the last traces could not be sent');
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, CLOSE_TIMEOUT_MS);
      });
      await Promise.race([provider.shutdown().catch(failed), timeout]);
      clearTimeout(timer);
      for (const one of [trace, context, propagation, diag]) one.disable();
    },
  };
}

/** What is known of this process. The environment has the last word. */
const resourceOf = (instance: string, version: string) =>
  defaultResource()
    .merge(
      resourceFromAttributes({
        'service.name': 'caretaker',
        'service.version': version,
        'service.instance.id': instance,
      }),
    )
    .merge(detectResources({ detectors: [envDetector] }));

/** The runs and their traces; a run that is not sampled has none. */
class TracedRuns {
  private readonly known = new Map<string, string | undefined>();
  private of = '';

  constructor(
    private readonly installation: () => string,
    private readonly isSampled: (traceId: string) => boolean,
  ) {}

  traceOf(run: string): string | undefined {
    const installation = this.installation();
    if (installation !== this.of || this.known.size >= MAX_RUNS) this.known.clear();
    this.of = installation;
    if (this.known.has(run)) return this.known.get(run);
    const derived = traceIdOf(installation, run);
    const traceId = this.isSampled(derived) ? derived : undefined;
    this.known.set(run, traceId);
    return traceId;
  }
}

/** The context of spans below another one, which this or another process makes. */
const below = (traceId: string, place: Place): Context =>
  trace.setSpanContext(ROOT_CONTEXT, {
    traceId,
    spanId: spanIdOf(traceId, ...place),
    traceFlags: TraceFlags.SAMPLED,
    isRemote: true,
  });

/** Makes a span that has ended already. */
const emitter =
  (tracer: Tracer, ids: ChosenIds, sampler: RunSampler) =>
  (traceId: string, { name, kind, place, parent, from, to, attributes, events = [], failed }: SpanFacts) => {
    ids.trace = traceId;
    ids.span = place && spanIdOf(traceId, ...place);
    sampler.isRun = parent === undefined;
    const span = tracer.startSpan(
      name,
      {
        kind: kind === 'client' ? SpanKind.CLIENT : SpanKind.INTERNAL,
        startTime: timeOf(from),
        attributes: cleaned(attributes),
      },
      parent ? below(traceId, parent) : ROOT_CONTEXT,
    );
    ids.trace = undefined;
    ids.span = undefined;
    sampler.isRun = false;
    for (const event of events) span.addEvent(event.name, timeOf(event.at));
    if (failed !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: scrubOnce(failed) });
    span.end(timeOf(Math.max(from, to)));
  };

/** As seconds and nanoseconds: the SDK may take a number for a time of this process. */
const timeOf = (ms: number): [number, number] => [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];

const cleaned = (given: SpanFacts['attributes']): Attributes => {
  const attributes: Attributes = {};
  for (const [key, value] of Object.entries(given)) {
    if (Array.isArray(value)) attributes[key] = value.map(scrubOnce);
    else if (value !== undefined) attributes[key] = typeof value === 'string' ? scrubOnce(value) : value;
  }
  return attributes;
};

/** What the SDK has to say, each once; numbers in it do not make it another one. */
function onceEach(log: Log) {
  const said = new Set<string>();
  const say = (...parts: unknown[]) => {
    const message = parts.map(messageOf).join(': ');
    const kind = message.replace(/\d+/g, '#').slice(0, 100);
    log[said.has(kind) ? 'debug' : 'warn'](`OpenTelemetry: ${message}`);
    said.add(kind);
  };
  const silent = () => undefined;
  return { error: say, warn: say, info: silent, debug: silent, verbose: silent };
}

/** BullMQ makes such a span without a duration for each entry, after it has waited for it. */
const emptySpan = /^getNextJob /;

/**
 * A span is kept when its parent is. BullMQ's own spans without a parent, such as those of a worker that looks
 * for stalled entries, belong to no run and are dropped.
 */
class RunSampler implements Sampler {
  /** Set while the span of a run is made, which has no parent. */
  isRun = false;

  shouldSample(context: Context, _trace: string, name: string): SamplingResult {
    const parent = trace.getSpanContext(context);
    const isKept = parent ? (parent.traceFlags & TraceFlags.SAMPLED) !== 0 : this.isRun;
    const decision =
      isKept && !emptySpan.test(name) ? SamplingDecision.RECORD_AND_SAMPLED : SamplingDecision.NOT_RECORD;
    return { decision };
  }

  toString(): string {
    return 'RunSampler';
  }
}

/** Decides by the id of its trace whether a run is sampled (`OTEL_TRACES_SAMPLER`): the same in every process. */
function samplesTrace(env: NodeJS.ProcessEnv): (traceId: string) => boolean {
  const sampler = samplerNamed(env['OTEL_TRACES_SAMPLER']?.trim().toLowerCase() || 'always_on', env);
  return (traceId) =>
    sampler.shouldSample(ROOT_CONTEXT, traceId, 'run', SpanKind.INTERNAL, {}, []).decision ===
    SamplingDecision.RECORD_AND_SAMPLED;
}

/**
 * Each is as its `parentbased_` form, since a run has no parent. Of a name or a ratio that is not valid the SDK tells
 * the log; every run is sampled then.
 */
function samplerNamed(name: string, env: NodeJS.ProcessEnv): Sampler {
  const plain = name.replace(/^parentbased_/, '');
  if (plain === 'always_off') return new AlwaysOffSampler();
  if (plain === 'traceidratio') return new TraceIdRatioBasedSampler(ratioOf(env['OTEL_TRACES_SAMPLER_ARG']));
  return new AlwaysOnSampler();
}

function ratioOf(text: string | undefined): number {
  const ratio = Number(text?.trim() || Number.NaN);
  return ratio >= 0 && ratio <= 1 ? ratio : 1;
}
