export type Provider = 'provider_one' | 'provider_two';

export interface Destination {
  readonly id: string;
  readonly provider: Provider;
  readonly name: string;
  status: 'active' | 'inactive';
  /** The storage account; null when disconnected. */
  account: { email: string; id: string } | null;
  folder: { id: string; name: string } | null;
  testedAt: number | null;
  error: { code: string; message: string } | null;
  readonly createdAt: number;
  updatedAt: number;
}

/** The external storage of the account. */
export interface Storage {
  readonly saved: Map<Provider, Destination>;
  /** Providers that are currently neither usable nor visible. */
  readonly disabled: Set<Provider>;
  /** Whether tests of destinations fail because the providers are down. */
  down: boolean;
}
