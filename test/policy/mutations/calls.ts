/** A policy for each operation that the job api-call can call, with everything that its input can have. */
import { stringify } from 'yaml';
import { z } from 'zod';
import { type Operation, pathParameters } from '../../../src/contract/operation.ts';
import { isDestructive, type OperationId, operations } from '../../../src/contract/operations.ts';
import { kindOfId } from '../../../src/contract/schema.ts';
import { isSecretKey } from '../../../src/secrets.ts';

const named = ['tag', 'client', 'template', 'schedule', 'sender'];

/** The operations that change something. */
export const callable = (Object.entries(operations) as [OperationId, Operation][]).filter(
  ([, { effect }]) => effect !== undefined,
);

/** The policies, each as the text of a file. */
export const callTexts = (): string[] =>
  callable.map(([operation, { path, body }]) => {
    const parameters = pathParameters(path).map((name, i) => [name, i === 0 ? 12 : { cel: 'account.name' }]);
    const given = {
      operation,
      ...(parameters.length > 0 && { params: Object.fromEntries(parameters) }),
      ...(body && { body: valueFor(body, '') }),
      ...(isDestructive(operation) && { confirm: operation }),
      once: '{{run.date}}',
    };
    return stringify({
      policies: [{ name: 'p', job: 'api-call', select: { from: 'account' }, with: given }],
    });
  });

/** A value with every field, except that nothing is a credential. */
function valueFor(schema: z.core.$ZodType, key: string): unknown {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    return valueFor(schema.unwrap(), key);
  if (schema instanceof z.ZodObject) {
    const fields = Object.entries(schema.shape as Record<string, z.core.$ZodType>)
      .filter(([name]) => !isSecretKey(name) && name !== 'http_auth')
      .map(([name, field]) => [name, valueFor(field, name)]);
    return Object.fromEntries(fields);
  }
  if (schema instanceof z.ZodArray) return [valueFor(schema.element, key)];
  if (schema instanceof z.ZodRecord) return { general: valueFor(schema.valueType, key) };
  if (schema instanceof z.ZodEnum) return schema.options.at(-1);
  if (schema instanceof z.ZodBoolean) return true;
  if (schema instanceof z.ZodNumber) return 7;
  const kind = kindOfId(schema);
  if (kind) return named.includes(kind) ? { name: 'Premium' } : { cel: 'account.name' };
  return texts[key] ?? 'Some text';
}

const texts: Readonly<Record<string, string>> = {
  start_date: '2026-11-01',
  end_date: '2026-11-30',
  performed_on: '2026-11-21',
  started_at: '2026-12-01T02:00:00Z',
  until: '2026-12-01T02:00:00Z',
  daily_sync_time: '02:00Z',
  method: 'ftp',
};
