/** What each function of CEL does, for people. A test compares the names with those that expressions may call. */

export interface FunctionDoc {
  /** How it is called and what it gives. */
  signature: string;
  text: string;
  /** A complete expression over a site. */
  example: string;
}

const method = (call: string, gives: string): string => `<text>.${call}: ${gives}`;
const ofTime = (name: string): string => `<time>.${name}(): number, <time>.${name}("Europe/Berlin"): number`;
const ofTimeOrDuration = (name: string): string => `${ofTime(name)}, <duration>.${name}(): number`;

export const functionDocs: Readonly<Record<string, FunctionDoc>> = {
  size: {
    signature: 'size(<text or list>): number, <text or list>.size(): number',
    text: 'The number of characters of a text, or of items of a list.',
    example: 'size(site.tags) > 0',
  },
  bool: {
    signature: 'bool(<text>): true or false',
    text: 'The text "true" or "false" as a condition.',
    example: 'bool("true")',
  },
  int: {
    signature: 'int(<number, text or time>): number',
    text: 'A whole number; of a time, the seconds since 1970.',
    example: 'int(now) - int(site.sync.last_sync_at) > 86400',
  },
  double: {
    signature: 'double(<number or text>): number',
    text: 'A number that may have a fraction.',
    example: 'double("1.5") > 1.0',
  },
  string: {
    signature: 'string(<value>): text',
    text: 'A value as text; a time as 2026-11-21T02:00:00Z, a duration in seconds.',
    example: 'string(site.sync.last_sync_at).startsWith("2026-11")',
  },
  startsWith: {
    signature: method('startsWith(<text>)', 'true or false'),
    text: 'Whether a text begins with another one.',
    example: 'site.url.startsWith("https://")',
  },
  endsWith: {
    signature: method('endsWith(<text>)', 'true or false'),
    text: 'Whether a text ends with another one.',
    example: 'site.url.endsWith(".example")',
  },
  contains: {
    signature: method('contains(<text>)', 'true or false'),
    text: 'Whether a text contains another one. Of a list, write `"x" in list`.',
    example: 'site.title.contains("Shop")',
  },
  re: {
    signature: method('re(<pattern>)', 'true or false'),
    text: 'Whether a pattern (RE2, a regular expression) matches a part of the text. It never takes long.',
    example: 'site.title.re("(?i)shop|store")',
  },
  lowerAscii: {
    signature: method('lowerAscii()', 'text'),
    text: 'The text with the letters A to Z in lower case.',
    example: 'site.title.lowerAscii().contains("shop")',
  },
  upperAscii: {
    signature: method('upperAscii()', 'text'),
    text: 'The text with the letters a to z in upper case.',
    example: 'site.title.upperAscii() == "SHOP"',
  },
  trim: {
    signature: method('trim()', 'text'),
    text: 'The text without spaces at its beginning and end.',
    example: 'site.title.trim() != ""',
  },
  indexOf: {
    signature: `${method('indexOf(<text>)', 'number')}, <text>.indexOf(<text>, <from>): number`,
    text: 'The position of the first occurrence, from 0; -1 if there is none.',
    example: 'site.url.indexOf("staging") >= 0',
  },
  lastIndexOf: {
    signature: `${method('lastIndexOf(<text>)', 'number')}, <text>.lastIndexOf(<text>, <from>): number`,
    text: 'The position of the last occurrence, from 0; -1 if there is none.',
    example: 'site.url.lastIndexOf(".") > 0',
  },
  substring: {
    signature: `${method('substring(<from>)', 'text')}, <text>.substring(<from>, <to>): text`,
    text: 'A part of a text: positions count from 0, and the end does not belong to it.',
    example: 'site.title.substring(0) != ""',
  },
  split: {
    signature: `${method('split(<separator>)', 'list of texts')}, <text>.split(<separator>, <at most>): list of texts`,
    text: 'The parts of a text between separators.',
    example: 'site.url.split("/").size() > 3',
  },
  join: {
    signature: '<list of texts>.join(): text, <list of texts>.join(<separator>): text',
    text: 'The texts of a list as one.',
    example: 'site.tags.map(tag, tag.name).join(", ") != ""',
  },
  timestamp: {
    signature: 'timestamp(<text>): time',
    text: 'A time, written with its zone.',
    example: 'site.sync.last_sync_at < timestamp("2026-11-21T02:00:00Z")',
  },
  duration: {
    signature: 'duration(<text>): duration',
    text: 'A duration in days, hours, minutes and seconds: "30d", "1h30m".',
    example: 'site.sync.last_sync_at < now - duration("20h")',
  },
  getFullYear: { signature: ofTime('getFullYear'), text: 'The year.', example: 'now.getFullYear() == 2026' },
  getMonth: {
    signature: ofTime('getMonth'),
    text: 'The month; January is 0.',
    example: 'now.getMonth() == 11',
  },
  getDate: {
    signature: ofTime('getDate'),
    text: 'The day of the month, from 1.',
    example: 'now.getDate("Europe/Berlin") == 1',
  },
  getDayOfMonth: {
    signature: ofTime('getDayOfMonth'),
    text: 'The day of the month, from 0. `getDate` counts from 1.',
    example: 'now.getDayOfMonth() == 0',
  },
  getDayOfWeek: {
    signature: ofTime('getDayOfWeek'),
    text: 'The day of the week; Sunday is 0.',
    example: 'now.getDayOfWeek("Europe/Berlin") in [0, 6]',
  },
  getDayOfYear: {
    signature: ofTime('getDayOfYear'),
    text: 'The day of the year, from 0.',
    example: 'now.getDayOfYear() < 31',
  },
  getHours: {
    signature: ofTimeOrDuration('getHours'),
    text: 'The hour of the day, from 0 to 23; of a duration, all of its hours.',
    example: '(now - site.sync.last_sync_at).getHours() > 48',
  },
  getMinutes: {
    signature: ofTimeOrDuration('getMinutes'),
    text: 'The minute of the hour; of a duration, all of its minutes.',
    example: 'now.getMinutes() < 30',
  },
  getSeconds: {
    signature: ofTimeOrDuration('getSeconds'),
    text: 'The second of the minute; of a duration, all of its seconds.',
    example: 'now.getSeconds() < 30',
  },
  getMilliseconds: {
    signature: ofTimeOrDuration('getMilliseconds'),
    text: 'The milliseconds within the second.',
    example: 'now.getMilliseconds() >= 0',
  },
  ago: {
    signature: 'ago(<time>): text',
    text: 'How far a time is from now, in words: for messages, not for conditions.',
    example: 'ago(site.sync.last_sync_at)',
  },
  all: {
    signature: '<list>.all(<name>, <condition>): true or false',
    text: 'Whether the condition holds for every item of a list; true for an empty one.',
    example: 'site.tags.all(tag, tag.name != "hold")',
  },
  exists: {
    signature: '<list>.exists(<name>, <condition>): true or false',
    text: 'Whether the condition holds for at least one item of a list.',
    example: 'site.tags.exists(tag, tag.name == "gold")',
  },
  exists_one: {
    signature: '<list>.exists_one(<name>, <condition>): true or false',
    text: 'Whether the condition holds for exactly one item of a list.',
    example: 'site.tags.exists_one(tag, tag.name.startsWith("plan-"))',
  },
  filter: {
    signature: '<list>.filter(<name>, <condition>): list',
    text: 'The items of a list for which the condition holds.',
    example: 'site.tags.filter(tag, tag.name.startsWith("plan-")).size() == 1',
  },
  map: {
    signature: '<list>.map(<name>, <value>): list, <list>.map(<name>, <condition>, <value>): list',
    text: 'A value for each item of a list, or for each item for which the condition holds.',
    example: '"gold" in site.tags.map(tag, tag.name)',
  },
};
