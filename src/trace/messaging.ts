/** Adds the attributes that the conventions of OpenTelemetry ask of messaging spans to those of BullMQ. */
import { SpanKind } from '@opentelemetry/api';
import type { ReadableSpan, Span, SpanProcessor } from '@opentelemetry/sdk-trace-node';

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
