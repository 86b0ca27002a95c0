import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  fillIn,
  fillInLine,
  type MailFacts,
  mailTextFaults,
  mailValue,
  mailVariables,
} from '../../../jobs/report-dispatch/mail-text.ts';

const facts = Object.fromEntries(
  Object.keys(mailVariables).map((name) => [name, `<${name}>`]),
) as unknown as MailFacts;

describe('a string with variables', () => {
  test('has every variable filled in, with or without spaces around its name', () => {
    for (const name of Object.keys(mailVariables)) expect(fillIn(`{{${name}}}`, facts)).toBe(`<${name}>`);
    expect(fillIn('Hello {{ client.name }}, {{client.name}}!', facts)).toBe(
      'Hello <client.name>, <client.name>!',
    );
  });

  test('is expanded only once: a value that looks like a variable is not changed', () => {
    const sly = { ...facts, 'site.title': '{{client.name}} $& `exit`' };
    expect(fillIn('About {{site.title}}', sly)).toBe('About {{client.name}} $& `exit`');
  });

  test('executes nothing: text that is no variable is not changed', () => {
    const text = '{{constructor}} {{__proto__}} $(exit) <% x %> {{#if site}}';
    expect(fillIn(text, facts)).toBe(text);
    expect(mailTextFaults('{{constructor}}')).toHaveLength(1);
    expect(mailTextFaults('{{__proto__}}')).toHaveLength(1);
  });

  test('is a single line in a subject', () => {
    expect(fillInLine('Report\r\nBcc: all@example.com', facts)).toBe('Report Bcc: all@example.com');
  });
});

describe('an error in a string', () => {
  test('is reported with its position and a suggestion', () => {
    expect(mailTextFaults('Hi {{site.titel}}')).toEqual([
      { message: 'There is no variable {{site.titel}}.', suggestion: 'did you mean site.title?', offset: 3 },
    ]);
  });

  test('can also be an unmatched brace', () => {
    expect(mailTextFaults('Hi {{site.title').map(({ offset }) => offset)).toEqual([3]);
    expect(mailTextFaults('Hi site.title}} {{site.url}}').map(({ offset }) => offset)).toEqual([13]);
    expect(mailTextFaults('All { right } here, {{site.url}}')).toEqual([]);
  });
});

test('any value is a single line of limited length without angle brackets', () => {
  expect(mailValue('Shop\r\nBcc: x\u0000\u202e <script>alert(1)</script>')).toBe(
    'Shop Bcc: x script alert(1) /script',
  );
  expect(mailValue('x'.repeat(10_000))).toHaveLength(200);
  expect(mailValue(undefined)).toBe('');
  expect(mailValue('https://admin:hunter2@one.example')).toBe('https://admin:[hidden]@one.example');
});

test('every variable is explained on the page of the job, with the text from the code', () => {
  const page = readFileSync('docs/jobs/report-dispatch.md', 'utf8');
  const told = [...page.matchAll(/^\| `\{\{([a-z_.]+)\}\}` \| (.*) \|$/gm)].map(([, name, says]) => [
    name,
    says,
  ]);
  expect(Object.fromEntries(told)).toEqual(mailVariables);
});
