/** The names of time zones in configuration and policy files. */
import { isTimezone, offsetAt } from '../dates.ts';
import { editDistance } from '../suggest.ts';

/**
 * Other names of zones in the time zone database. `Intl` takes them and lists one name of each zone only, which
 * depends on the version of Node.
 */
const otherNames = `
  Africa/Asmara Africa/Asmera Africa/Timbuktu America/Argentina/Buenos_Aires America/Argentina/Catamarca
  America/Argentina/ComodRivadavia America/Argentina/Cordoba America/Argentina/Jujuy
  America/Argentina/Mendoza America/Atikokan America/Atka America/Buenos_Aires America/Catamarca
  America/Coral_Harbour America/Cordoba America/Ensenada America/Fort_Wayne America/Godthab
  America/Indiana/Indianapolis America/Indianapolis America/Jujuy America/Kentucky/Louisville
  America/Knox_IN America/Louisville America/Mendoza America/Montreal America/Nipigon America/Nuuk
  America/Pangnirtung America/Porto_Acre America/Rainy_River America/Rosario America/Santa_Isabel
  America/Shiprock America/Thunder_Bay America/Virgin America/Yellowknife Antarctica/McMurdo
  Antarctica/South_Pole Asia/Ashkhabad Asia/Calcutta Asia/Choibalsan Asia/Chongqing Asia/Chungking
  Asia/Dacca Asia/Harbin Asia/Ho_Chi_Minh Asia/Istanbul Asia/Kashgar Asia/Kathmandu Asia/Katmandu
  Asia/Kolkata Asia/Macao Asia/Rangoon Asia/Saigon Asia/Tel_Aviv Asia/Thimbu Asia/Ujung_Pandang
  Asia/Ulan_Bator Asia/Yangon Atlantic/Faeroe Atlantic/Faroe Atlantic/Jan_Mayen Australia/ACT
  Australia/Canberra Australia/Currie Australia/LHI Australia/NSW Australia/North Australia/Queensland
  Australia/South Australia/Tasmania Australia/Victoria Australia/West Australia/Yancowinna Brazil/Acre
  Brazil/DeNoronha Brazil/East Brazil/West CET CST6CDT Canada/Atlantic Canada/Central Canada/Eastern
  Canada/Mountain Canada/Newfoundland Canada/Pacific Canada/Saskatchewan Canada/Yukon Chile/Continental
  Chile/EasterIsland Cuba EET EST EST5EDT Egypt Eire Etc/GMT Etc/GMT+0 Etc/GMT-0 Etc/GMT0 Etc/Greenwich
  Etc/UCT Etc/UTC Etc/Universal Etc/Zulu Europe/Belfast Europe/Kiev Europe/Kyiv Europe/Nicosia
  Europe/Tiraspol Europe/Uzhgorod Europe/Zaporozhye GB GB-Eire GMT GMT+0 GMT-0 GMT0 Greenwich HST Hongkong
  Iceland Iran Israel Jamaica Japan Kwajalein Libya MET MST MST7MDT Mexico/BajaNorte Mexico/BajaSur
  Mexico/General NZ NZ-CHAT Navajo PRC PST8PDT Pacific/Chuuk Pacific/Enderbury Pacific/Johnston
  Pacific/Kanton Pacific/Pohnpei Pacific/Ponape Pacific/Samoa Pacific/Truk Pacific/Yap Poland Portugal ROC
  ROK Singapore Turkey UCT US/Alaska US/Aleutian US/Arizona US/Central US/East-Indiana US/Eastern US/Hawaii
  US/Indiana-Starke US/Michigan US/Mountain US/Pacific US/Samoa Universal W-SU WET Zulu
`;

/** Zones with a fixed offset: `Etc/GMT-1` is an hour ahead of UTC. */
const fixedZones = Array.from({ length: 27 }, (_, i) => i - 14)
  .filter((hours) => hours !== 0)
  .map((hours) => `Etc/GMT${hours > 0 ? '+' : ''}${hours}`);

const others: ReadonlySet<string> = new Set([...otherNames.trim().split(/\s+/), ...fixedZones]);

let listed: ReadonlySet<string> | undefined;
/** The names that `Intl` lists. */
const listedNames = (): ReadonlySet<string> => {
  listed ??= new Set(Intl.supportedValuesOf('timeZone'));
  return listed;
};

let known: ReadonlySet<string> | undefined;

/** Every name of a time zone, spelt as in the time zone database; `UTC` is the first. */
export function timezoneNames(): ReadonlySet<string> {
  known ??= new Set(['UTC', ...[...listedNames(), ...[...others].filter(isTimezone)].sort()]);
  return known;
}

/** What is wrong with the name of a time zone; undefined when there is such a zone. */
export const timezoneNameFault = (name: string): string | undefined =>
  isTimezoneName(name) ? undefined : 'must be the name of a time zone such as Europe/Berlin';

/** Whether it is one of `timezoneNames`, found out without trying all of them. */
const isTimezoneName = (name: string): boolean =>
  name === 'UTC' || listedNames().has(name) || (others.has(name) && isTimezone(name));

/**
 * Cities of abbreviations. CST, IST, BST and others that several countries use are left out, as is everything that
 * is a name of its own.
 */
const citiesOf: Readonly<Record<string, string>> = {
  'America/Los_Angeles': 'pst pdt pt',
  'America/Denver': 'mdt',
  'America/Chicago': 'cdt',
  'America/New_York': 'edt et',
  'America/Anchorage': 'akst akdt',
  'America/Halifax': 'adt',
  'America/St_Johns': 'ndt',
  'America/Sao_Paulo': 'brt',
  'Europe/London': 'uk',
  'Europe/Berlin': 'cest mez mesz germany',
  'Europe/Athens': 'eest',
  'Europe/Moscow': 'msk',
  'Africa/Johannesburg': 'sast',
  'Africa/Lagos': 'wat',
  'Africa/Nairobi': 'eat',
  'Asia/Tokyo': 'jst tokio',
  'Asia/Seoul': 'kst',
  'Asia/Shanghai': 'china beijing',
  'Asia/Hong_Kong': 'hkt',
  'Asia/Singapore': 'sgt',
  'Asia/Manila': 'pht',
  'Asia/Jakarta': 'wib',
  'Asia/Bangkok': 'ict',
  'Asia/Karachi': 'pkt',
  'Asia/Kolkata': 'india delhi mumbai',
  'Australia/Sydney': 'aest aedt aet',
  'Australia/Adelaide': 'acst acdt',
  'Australia/Perth': 'awst',
  'Pacific/Auckland': 'nzst nzdt nzt',
  UTC: 'z',
};
const cityOf = new Map(
  Object.entries(citiesOf).flatMap(([zone, words]) => words.split(' ').map((word) => [word, zone])),
);

/**
 * The name that was probably meant. It recognises another case, a city without its continent, an offset, an
 * abbreviation, and a spelling mistake. A zone of another time is worse than no hint: another abbreviation is never
 * suggested, and a city only for one or two wrong letters, since `Asia/Dili` is near to Delhi in letters only.
 */
export function timezoneHint(text: string): string | undefined {
  const typed = plain(text);
  const names = [...timezoneNames()];
  const same = names.find((zone) => plain(zone) === typed);
  const [, prefix = '', sign = '', hours = '', minutes = '0'] = offset.exec(text.trim()) ?? [];
  if (same === undefined && sign !== '') {
    const isReversed = plain(prefix).endsWith('/gmt');
    return offsetHint((Number(hours) + Number(minutes) / 60) * ((sign === '+') === isReversed ? -1 : 1));
  }
  const [city = '', ...before] = typed.split('/').reverse();
  const meant = same ?? cityOf.get(city) ?? nearest(city, before.reverse().join('/'), names);
  return meant === undefined ? undefined : `did you mean ${meant}?`;
}

/** `GMT+2`, `UTC-05:30`, `+0200`. */
const offset = /^((?:Etc\/)?(?:GMT|UTC|UT|Z)?)\s*([-+−])(\d{1,2})(?::?([0-5]\d))?$/i;

function offsetHint(hours: number): string | undefined {
  if (hours === 0) return 'did you mean UTC?';
  const ms = hours * 3_600_000;
  const summerAndWinter = [Date.UTC(2026, 0, 1), Date.UTC(2026, 6, 1)];
  const zone = Number.isInteger(hours)
    ? `Etc/GMT${hours > 0 ? '-' : '+'}${Math.abs(hours)}`
    : [...listedNames()].find((name) => summerAndWinter.every((at) => offsetAt(name, at) === ms));
  if (zone === undefined || !isTimezoneName(zone)) return undefined;
  const where = `${formatHours(Math.abs(hours))} ${hours > 0 ? 'ahead of' : 'behind'} UTC`;
  return `did you mean ${zone}, ${where}${zone.startsWith('Etc/') ? ' (such names have the sign reversed)' : ''}?`;
}

const formatHours = (hours: number): string =>
  `${Math.floor(hours)}${hours % 1 === 0 ? '' : `:${Math.round((hours % 1) * 60)}`} ${hours === 1 ? 'hour' : 'hours'}`;

/** In lower case and without the marks between words: `new york`, `New-York`. Signs before a number stay. */
const plain = (text: string): string =>
  text
    .trim()
    .toLowerCase()
    .replace(/[ _]|-(?!\d)/g, '');

/** Parts of countries, not cities: the "east" that a person means is hardly that of Brazil. */
const regions = /^(?:Brazil|Canada|Chile|Mexico|US|Australia\/(?:ACT|LHI|N|Q|South|T|V|W))/;

/** The city of nearly this name in the same continent, or the only one of exactly this name in any. */
function nearest(city: string, continent: string, names: readonly string[]): string | undefined {
  const cities = names
    .filter((zone) => !/\d|^[A-Z-]+$/.test(zone))
    .map((zone) => {
      const parts = plain(zone).split('/');
      const isSameContinent = editDistance(parts.slice(0, -1).join('/'), continent) <= 2;
      return { zone, distance: editDistance(parts.at(-1) ?? '', city), isSameContinent };
    });
  const allowed = city.length < 5 ? 0 : city.length < 9 ? 1 : 2;
  const [near] = cities
    .filter(({ distance, isSameContinent }) => continent !== '' && isSameContinent && distance <= allowed)
    .sort((a, b) => a.distance - b.distance);
  const [exact, ...others] = cities.filter(({ zone, distance }) => distance === 0 && !regions.test(zone));
  return near?.zone ?? (others.length === 0 ? exact?.zone : undefined);
}
