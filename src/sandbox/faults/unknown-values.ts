/** Answers of a service that is newer than its callers. */

/** Fields whose enums may get new values. */
const enumFields = new Set([
  'status',
  'type',
  'role',
  'provider',
  'object_type',
  'event_type',
  'last_sync_status',
]);

/**
 * Adds an unknown field to every object of the answer, and replaces its first enum value with an unknown one.
 */
export function addUnknownValues(answer: unknown): unknown {
  let isEnumChanged = false;
  const text = JSON.stringify(answer, (key, value: unknown) => {
    if (!isEnumChanged && enumFields.has(key) && typeof value === 'string') {
      isEnumChanged = true;
      return 'introduced_later';
    }
    if (key === 'introduced_later' || typeof value !== 'object' || value === null || Array.isArray(value))
      return value;
    return { ...value, introduced_later: { since: '6.1.0' } };
  });
  return JSON.parse(text);
}
