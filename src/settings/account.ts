/** Picks an account out of the settings, complete or with a sentence that says what is missing. */
import { CaretakerError } from '../errors.ts';
import { suggestionFor } from '../suggest.ts';
import { shortFile } from '../yaml/diagnostic.ts';
import type { Account, KnownAccount, Settings } from './settings.ts';

/** An account is not there, or lacks its base URL or token: nothing can be asked of the service. */
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
 * The account `name` with base URL and token.
 *
 * @throws {AccountNotSetUpError} when there is no such account, or it is not complete.
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
  const lacking = [
    ...(baseUrl ? [] : [{ what: 'no base URL', variable: unset.baseUrl, key: `accounts.${name}.base_url` }]),
    ...(token ? [] : [{ what: 'no token', variable: unset.token, key: `accounts.${name}.token` }]),
  ];
  const whats = lacking.map(({ what }) => what).join(' and ');
  const variables = lacking.flatMap(({ variable }) => variable ?? []).join(' and ');
  const keys = lacking.map(({ key }) => key).join(' and ');
  const remedy = variables === '' ? `set ${keys} in ${file}` : `set ${variables}, or ${keys} in ${file}`;
  throw new AccountNotSetUpError(name, `The account "${name}" has ${whats}: ${remedy}.`);
}
