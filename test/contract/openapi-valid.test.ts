import { Validator } from '@seriousme/openapi-schema-validator';
import { expect, test } from 'vitest';
import { openApiDocument } from '../../src/contract/openapi.ts';

test('the description of the service is valid OpenAPI 3.1 by the specification’s own schema', async () => {
  const validator = new Validator();
  const { valid, errors } = await validator.validate({ ...openApiDocument('http://127.0.0.1:4010/api/v6') });
  expect({ valid, errors }).toEqual({ valid: true, errors: undefined });
  expect(validator.version).toBe('3.1');
});
