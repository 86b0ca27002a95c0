/**
 * The name of the lease that an account's supervisor holds. Its holder is the process that supervises the
 * account's runs.
 */
export const supervisorLease = (account: string): string => `supervisor:${account}`;
