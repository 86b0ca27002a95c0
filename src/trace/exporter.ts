/** Sends spans to the receiver. When that fails, work goes on: the spans are lost, and the log says so once. */
import type { SpanExporter } from '@opentelemetry/sdk-trace-node';
import type { Log } from '../log.ts';
import { countOf } from '../text.ts';
import type { Wanted } from './variables.ts';

type Export = SpanExporter['export'];
type Done = Parameters<Export>[1];
/** The code of a success in the result of an export. */
const SUCCESS = 0;

/** Loads the exporter of a protocol. It reads its endpoint, headers, timeout and certificates from the environment. */
export async function openExporter(
  protocol: Extract<Wanted, { is: 'on' }>['protocol'],
  log: Pick<Log, 'warn' | 'info' | 'debug'>,
): Promise<SpanExporter> {
  const { OTLPTraceExporter } =
    protocol === 'http/json'
      ? await import('@opentelemetry/exporter-trace-otlp-http')
      : await import('@opentelemetry/exporter-trace-otlp-proto');
  return new ReportingExporter(new OTLPTraceExporter(), log);
}

/** Logs the first failure in a row, and how many spans were lost when it is over. */
export class ReportingExporter implements SpanExporter {
  private lost = 0;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly log: Pick<Log, 'warn' | 'info' | 'debug'>,
  ) {}

  export(spans: Parameters<Export>[0], done: Done): void {
    this.exporter.export(spans, (result) => {
      if (result.code === SUCCESS) this.noteSuccess();
      else this.noteFailure(spans.length, result.error);
      // The failure was reported here; the caller would log it again each time.
      done({ code: SUCCESS });
    });
  }

  private noteSuccess(): void {
    if (this.lost > 0)
      this.log.info(`the receiver of traces accepts them again; ${countOf(this.lost, 'span')} were lost`);
    this.lost = 0;
  }

  private noteFailure(spans: number, error: Error | undefined): void {
    const level = this.lost === 0 ? 'warn' : 'debug';
    this.lost += spans;
    this.log[level](
      { ...(error ? { err: error } : {}) },
      'traces could not be sent; work continues, and this is logged once',
    );
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  async forceFlush(): Promise<void> {
    await this.exporter.forceFlush?.();
  }
}
