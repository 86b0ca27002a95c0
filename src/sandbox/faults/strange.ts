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

/** The JSON of an answer with an unknown field in every object, and in its first enum a value that nobody knows. */
export function makeStrange(json: string): string {
  let told = false;
  return JSON.stringify(JSON.parse(json), (key, value: unknown) => {
    if (!told && enumFields.has(key) && typeof value === 'string') {
      told = true;
      return 'introduced_later';
    }
    if (key === 'introduced_later' || typeof value !== 'object' || value === null || Array.isArray(value))
      return value;
    return { ...value, introduced_later: { since: '6.1.0' } };
  });
}
