/** What is valid in the configuration but gives secrets away: reported as warnings. */
import { isSecretKey, MIN_SECRET } from '../secrets.ts';
import type { Path, Remark } from '../yaml/yaml-file.ts';
import type { ConfigFile } from './config-file.ts';
import { isLoopback } from './settings.ts';

/** The warning for a secret that is written in the file; it would be copied and stored with the file. */
export function literalSecret(path: Path, value: string | undefined): Remark | undefined {
  const key = String(path.at(-1));
  if (!value?.trim() || !(isSecretKey(key) || (path[0] === 'redis' && hasPassword(value)))) return undefined;
  return {
    message: `The ${key === 'redis' ? 'password' : key.replaceAll('_', ' ')} is written in the file, where everyone who can read the file sees it.`,
    // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how variables are written in config files.
    suggestion: 'take it from the environment: ${NAME}',
  };
}

/** The warnings for tokens that are too short to be hidden everywhere. Those of a sandbox are as one likes. */
export const shortTokens = ({ accounts }: ConfigFile): [Path, Remark][] =>
  Object.entries(accounts)
    .filter(
      ([, { base_url: url, token = '' }]) =>
        url !== undefined && !isLoopback(hostOf(url)) && isShort(token.trim()),
    )
    .map(([name]) => [
      ['accounts', name, 'token'],
      {
        message: `The token of the account "${name}" is shorter than ${MIN_SECRET} characters, so it is hardly one of the service.`,
        suggestion: 'copy it again',
      },
    ]);

/** The warnings for secrets that are sent over plain HTTP to another machine. */
export function plainHttp({ accounts, access, dashboard }: ConfigFile): [Path, Remark][] {
  const toService = Object.entries(accounts)
    .filter(([, { base_url: url }]) => url?.startsWith('http:') && !isLoopback(hostOf(url)))
    .map(([name]): [Path, Remark] => [
      ['accounts', name, 'base_url'],
      { message: 'The token of this account is sent over plain HTTP.', suggestion: 'use https://' },
    ]);
  const isBare = !isLoopback(dashboard.host) && access.trusted_proxies.length === 0;
  if (!isBare) return toService;
  const message = `Other machines reach the dashboard on ${dashboard.host} over plain HTTP, so passwords and tokens can be read on the way.`;
  const suggestion = 'put a proxy with TLS in front, and name it in access.trusted_proxies';
  return [...toService, [['dashboard', 'host'], { message, suggestion }]];
}

const isShort = (token: string): boolean => token !== '' && token.length < MIN_SECRET;

const hostOf = (url: string): string => new URL(url).hostname.replace(/^\[|\]$/g, '');

const hasPassword = (url: string): boolean => URL.canParse(url) && new URL(url).password !== '';
