/**
 * What makes an answer different from a usual one. A request may meet any number of these, and one of `stops`
 * besides.
 */
import type { FaultTable } from './table.ts';

export const changes = {
  slow: { help: 'the answer comes ten seconds late', rate: 0.1 },
  'other-consumer': { help: 'somebody else sends ten requests with the same account', rate: 0.1 },
  'unknown-values': { help: 'fields and enum values that no contract knows', rate: 0.2 },
  'moving-items': {
    help: 'an item comes in while pages are read: one is shown twice, and one not at all',
    rate: 0.2,
  },
  'absent-fields': { help: 'three of ten fields that the contract does not require are left out', rate: 0.2 },
  'other-timestamps': { help: 'timestamps with +00:00 or Z, with and without milliseconds', rate: 0.3 },
  'numbers-as-text': {
    help: 'numbers as text, in pagination and in about half of all other places',
    rate: 0.2,
  },
  'other-errors': { help: 'errors as {message, error: code} instead of {error: {code, message}}', rate: 0.3 },
  'hostile-text': { help: 'messages with terminal escapes, hidden characters and credentials', rate: 0.3 },
  'html-errors': { help: 'errors as HTML pages, with their status and rate headers', rate: 0.3 },
  'gzip-accepted': { help: 'compressed answers, JSON and PDF, where the request accepts them', rate: 0.5 },
  gzip: { help: 'compressed answers, JSON and PDF, even where the request does not accept them', rate: 0.2 },
} as const satisfies FaultTable;
