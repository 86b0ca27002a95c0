/** Returns an account of the settings, or an error that names what is missing. */
import { CaretakerError } from '../errors.ts';
import { suggestionFor } from '../suggest.ts';
import { shortFile } from '../yaml/diagnostic.ts';
import type { Account, KnownAccount, Settings } from './settings.ts';

/** An account does not exist, or has no base URL or token, so no request can be sent. */
export class AccountNotSetUpError extends CaretakerError {
  readonly code = 'ACCOUNT_NOT_SET_UP';

  constructor(
    readonly account: string,
    sentence: string,
  ) {
    super(sentence);
  }
}

/**
 * Returns the account `name` with base URL and token.
 *
 * @throws {AccountNotSetUpError} when there is no such account, or it is incomplete.
 */
export function accountOf(settings: Settings, name: string): Account {
  const file = settings.file === undefined ? 'config/caretaker.yaml' : shortFile(settings.file);
  if (!Object.hasOwn(settings.accounts, name)) {
    const hint = suggestionFor(name, Object.keys(settings.accounts));
    throw new AccountNotSetUpError(
      name,
      `There is no account "${name}" in ${file}${hint ? `; ${hint}` : '.'}`,
    );
  }
  const { baseUrl, token, budget, unset } = settings.accounts[name] as KnownAccount;
  if (baseUrl && token) return { name, baseUrl, token, budget };
  const missing = [
    ...(baseUrl ? [] : [{ what: 'no base URL', variable: unset.baseUrl, key: `accounts.${name}.base_url` }]),
    ...(token ? [] : [{ what: 'no token', variable: unset.token, key: `accounts.${name}.token` }]),
  ];
  const whats = missing.map(({ what }) => what).join(' and ');
  const variables = missing.flatMap(({ variable }) => variable ?? []).join(' and ');
  const keys = missing.map(({ key }) => key).join(' and ');
  const remedy = variables === '' ? `set ${keys} in ${file}` : `set ${variables}, or ${keys} in ${file}`;
  throw new AccountNotSetUpError(name, `The account "${name}" has ${whats}: ${remedy}.`);
}
