/** Faults that change an answer. Any number of them can affect a request, together with one of `stops`. */
import type { FaultTable } from './table.ts';

export const changes = {
  slow: { help: 'the answer comes ten seconds late', rate: 0.1 },
  'other-consumer': { help: 'another client of the account sends ten requests', rate: 0.1 },
  'unknown-values': { help: 'unknown fields and enum values', rate: 0.2 },
  'moving-items': {
    help: 'an item is added while pages are read: one is shown twice, and one not at all',
    rate: 0.2,
  },
  'unstable-order': {
    help: 'each page of a list after the first shows what the page before showed: some items are never shown',
    rate: 0.2,
  },
  'too-few-pages': { help: 'a list shows the right number of items, and one page', rate: 0.2 },
  'absent-fields': { help: 'three of ten fields that the contract does not require are missing', rate: 0.2 },
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
