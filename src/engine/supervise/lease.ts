/** The lease that an account's steward holds: who looks after the account's runs is asked by its name. */
export const stewardLease = (account: string): string => `steward:${account}`;
