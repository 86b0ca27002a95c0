/** The lease that an account's supervisor holds: who looks after the account's runs is asked by its name. */
export const supervisorLease = (account: string): string => `supervisor:${account}`;
