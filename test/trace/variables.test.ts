import { describe, expect, test } from 'vitest';
import { headerSecrets, tracesWanted } from '../../src/trace/variables.ts';

const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://collector:4318';

describe('traces are off', () => {
  test.each([
    {},
    { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' },
    { OTEL_SERVICE_NAME: 'caretaker', OTEL_TRACES_SAMPLER: 'always_on' },
    { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' },
    { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER: 'none' },
    { OTEL_TRACES_EXPORTER: 'otlp', OTEL_SDK_DISABLED: 'true' },
  ])('with %o', (env) => {
    expect(tracesWanted(env)).toEqual({ is: 'off' });
  });
});

describe('traces are on', () => {
  test.each([
    [{ OTEL_EXPORTER_OTLP_ENDPOINT }, 'http/protobuf', OTEL_EXPORTER_OTLP_ENDPOINT],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://traces:1' },
      'http/protobuf',
      'http://traces:1',
    ],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, 'http/protobuf', 'http://localhost:4318'],
    [{ OTEL_TRACES_EXPORTER: 'otlp', OTEL_SDK_DISABLED: 'false' }, 'http/protobuf', 'http://localhost:4318'],
    [
      {
        OTEL_EXPORTER_OTLP_ENDPOINT,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
        OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'http/json',
      },
      'http/json',
      OTEL_EXPORTER_OTLP_ENDPOINT,
    ],
  ])('with %o, as %s to %s', (env, protocol, receiver) => {
    expect(tracesWanted(env)).toEqual({ is: 'on', protocol, receiver });
  });
});

test.each([
  [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER may be otlp or none'],
  [
    { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' },
    'OTEL_EXPORTER_OTLP_PROTOCOL may be http/protobuf or http/json',
  ],
])('what is not supported is named: %o', (env, why) => {
  expect(tracesWanted(env)).toEqual({ is: 'unsupported', why });
});

test('the values of headers are secrets, as written and as sent', () => {
  expect(headerSecrets({ OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20abc, x-key=1=2' })).toEqual(
    expect.arrayContaining(['Bearer%20abc', 'Bearer abc', '1=2']),
  );
});
