/** The names of time zones in configuration and policy files. */
import { isTimezone } from '../dates.ts';
import { suggestionFor } from '../suggest.ts';

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

/** The name that was probably meant. It recognises another case, and a city without its continent. */
export function timezoneHint(text: string): string | undefined {
  const city = text.trim().toLowerCase().replaceAll(' ', '_');
  const meant = [...timezoneNames()].find((zone) => `/${zone.toLowerCase()}`.endsWith(`/${city}`));
  return meant === undefined ? suggestionFor(text, [...timezoneNames()]) : `did you mean ${meant}?`;
}
