/** Which runs have a trace. A run has all of its spans or none, in whichever process they are made. */
import { type Context, ROOT_CONTEXT, SpanKind, TraceFlags, trace } from '@opentelemetry/api';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  type Sampler,
  SamplingDecision,
  type SamplingResult,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node';

/** BullMQ makes such a span without a duration for each entry, after it has waited for it. */
const emptySpan = /^getNextJob /;

/**
 * A span is kept when its parent is. BullMQ's own spans without a parent, such as those of a worker that looks
 * for stalled entries, belong to no run and are dropped.
 */
export class RunSampler implements Sampler {
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
export function samplesTrace(env: NodeJS.ProcessEnv): (traceId: string) => boolean {
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
