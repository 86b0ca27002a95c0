/** The variables of OpenTelemetry that decide whether there are traces. The SDK reads the others itself. */

type Environment = Readonly<Record<string, string | undefined>>;

export type Wanted =
  | { is: 'off' }
  | { is: 'on'; protocol: (typeof protocols)[number]; receiver: string }
  /** `why`: one sentence without a full stop. */
  | { is: 'unsupported'; why: string };

const protocols = ['http/protobuf', 'http/json'] as const;

/** Traces are on when a receiver is named, or when `OTEL_TRACES_EXPORTER` is `otlp`. */
export function tracesWanted(env: Environment): Wanted {
  const of = (name: string): string => env[name]?.trim() ?? '';
  const exporter = of('OTEL_TRACES_EXPORTER').toLowerCase();
  const receiver = of('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') || of('OTEL_EXPORTER_OTLP_ENDPOINT');
  if (of('OTEL_SDK_DISABLED').toLowerCase() === 'true' || exporter === 'none') return { is: 'off' };
  if (exporter === '' && receiver === '') return { is: 'off' };
  if (exporter !== '' && exporter !== 'otlp')
    return { is: 'unsupported', why: 'OTEL_TRACES_EXPORTER may be otlp or none' };
  const chosen = of('OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') || of('OTEL_EXPORTER_OTLP_PROTOCOL');
  const protocol = protocols.find((one) => one === (chosen || 'http/protobuf'));
  if (protocol) return { is: 'on', protocol, receiver: receiver || 'http://localhost:4318' };
  return { is: 'unsupported', why: `OTEL_EXPORTER_OTLP_PROTOCOL may be ${protocols.join(' or ')}` };
}

/** The values of `OTEL_EXPORTER_OTLP_HEADERS`, which are secrets of the receiver. */
export function headerSecrets(env: Environment): string[] {
  const lists = [env['OTEL_EXPORTER_OTLP_HEADERS'], env['OTEL_EXPORTER_OTLP_TRACES_HEADERS']];
  return lists.flatMap((list = '') =>
    list.split(',').flatMap((pair) => {
      const written = pair.slice(pair.indexOf('=') + 1).trim();
      return [written, decoded(written)];
    }),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
