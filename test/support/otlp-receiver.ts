/** A receiver of OpenTelemetry traces over HTTP: keeps what it is sent, and decodes JSON. */
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ReceivedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  /** 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number;
  fromMs: number;
  toMs: number;
  attributes: Record<string, unknown>;
  events: string[];
  /** 2 is an error. */
  status?: { code: number; message?: string };
  /** The tracer. */
  scope: string;
  /** The attributes of the process. */
  process: Record<string, unknown>;
}

export interface OtlpReceiver {
  url: string;
  /** Every span of a body of JSON, in the order of arrival. */
  spans: ReceivedSpan[];
  /** What was sent, with its headers. */
  bodies: { text: string; headers: IncomingHttpHeaders }[];
  /** The status of the next answers; `hang`: no answer at all. Default 200. */
  answers: number | 'hang';
  /** Resolves when a condition holds, which is looked at after each body. */
  until(holds: () => boolean): Promise<void>;
  stop(): Promise<void>;
}

interface Value {
  stringValue?: string;
  intValue?: string | number;
  doubleValue?: number;
  boolValue?: boolean;
  arrayValue?: { values: Value[] };
}
interface Attribute {
  key: string;
  value: Value;
}
interface Sent {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: { scope: { name: string }; spans: SentSpan[] }[];
  }[];
}
interface SentSpan extends Pick<ReceivedSpan, 'traceId' | 'spanId' | 'parentSpanId' | 'name' | 'kind'> {
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
  events?: { name: string }[];
  status?: { code: number; message?: string };
}

export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const listeners = new Set<() => void>();
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('latin1');
    const { answers } = receiver;
    receiver.bodies.push({ text, headers: request.headers });
    if (answers === 200 && request.headers['content-type'] === 'application/json')
      receiver.spans.push(...spansOf(JSON.parse(Buffer.concat(chunks).toString('utf8')) as Sent));
    if (answers !== 'hang') response.writeHead(answers, { 'content-type': 'application/json' }).end('{}');
    for (const listen of listeners) listen();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: OtlpReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans: [],
    bodies: [],
    answers: 200,
    until: (holds) =>
      new Promise((resolve) => {
        const look = () => {
          if (!holds()) return;
          listeners.delete(look);
          resolve();
        };
        listeners.add(look);
        look();
      }),
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return receiver;
}

const spansOf = ({ resourceSpans }: Sent): ReceivedSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ scope, spans }) =>
      spans.map(({ startTimeUnixNano, endTimeUnixNano, attributes, events = [], ...span }) => ({
        ...span,
        fromMs: Number(BigInt(startTimeUnixNano) / 1_000_000n),
        toMs: Number(BigInt(endTimeUnixNano) / 1_000_000n),
        attributes: plain(attributes),
        events: events.map(({ name }) => name),
        scope: scope.name,
        process: plain(resource.attributes),
      })),
    ),
  );

const plain = (attributes: Attribute[]): Record<string, unknown> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, contentOf(value)]));

function contentOf({ stringValue, intValue, doubleValue, boolValue, arrayValue }: Value): unknown {
  if (arrayValue) return arrayValue.values.map(contentOf);
  return intValue === undefined ? (stringValue ?? doubleValue ?? boolValue) : Number(intValue);
}
