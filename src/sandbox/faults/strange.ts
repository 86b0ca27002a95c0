/** Answers as a service gives them that has been developed further than its callers know. */

/** Fields whose values are out of a list that may become longer. */
const enumFields = new Set([
  'status',
  'type',
  'role',
  'provider',
  'object_type',
  'event_type',
  'last_sync_status',
]);

/** The same answer with an unknown field in every object, and in its first enum a value that nobody knows. */
export function makeStrange(answer: unknown): unknown {
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
