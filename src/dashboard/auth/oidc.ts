/** Sign-in at an OpenID Connect issuer: authorization code with PKCE, state and nonce. */
import type { Configuration } from 'openid-client';
import type { Access, Claims, Oidc } from '../../access/access.ts';
import type { Clock } from '../../clock.ts';
import { CaretakerError, messageOf } from '../../errors.ts';

/** The issuer does not answer, or its answer cannot be used. */
export class IssuerError extends CaretakerError {
  readonly code = 'OIDC_ISSUER';
}
/** The issuer has answered, and no one is signed in. */
export class OidcRefusedError extends CaretakerError {
  readonly code = 'OIDC_REFUSED';
}

const TIMEOUT_S = 5;
/** A person has so long to sign in at the issuer. */
export const PENDING_MS = 10 * 60_000;
/** Beyond that number the oldest one is forgotten. */
const MAX_PENDING = 1_000;
/** So much the clock of the issuer may be ahead of ours. */
const MAX_AHEAD_MS = 60_000;
/** An issuer that did not answer is not asked again for so long. */
const FAILED_MS = 5_000;

/** A sign-in that has been sent to the issuer. */
interface Pending {
  verifier: string;
  nonce: string;
  redirectUri: string;
  /** The local path to show afterwards. */
  to: string;
  endsAt: number;
}

/** The issuer's configuration is read when a person signs in, and kept while the settings stay the same. */
export class OidcSignIn {
  private readonly pending = new Map<string, Pending>();
  private known: { settings: Oidc; config: Promise<Configuration>; failedAt?: number } | undefined;

  constructor(
    private readonly access: () => Access,
    private readonly clock: Pick<Clock, 'now'>,
  ) {}

  /**
   * The address at the issuer to send the browser to, and the state that its cookie must have afterwards.
   *
   * @throws {IssuerError}
   */
  async begin(redirectUri: string, to: string): Promise<{ url: URL; state: string }> {
    const { config, settings } = await this.configuration();
    const client = await import('openid-client');
    const [verifier, state, nonce] = [
      client.randomPKCECodeVerifier(),
      client.randomState(),
      client.randomNonce(),
    ];
    const now = this.clock.now();
    for (const [key, { endsAt }] of this.pending) if (endsAt <= now) this.pending.delete(key);
    const [oldest] = this.pending.keys();
    if (oldest !== undefined && this.pending.size >= MAX_PENDING) this.pending.delete(oldest);
    this.pending.set(state, { verifier, nonce, redirectUri, to, endsAt: now + PENDING_MS });
    const url = client.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: settings.scopes.join(' '),
      code_challenge: await client.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      state,
      nonce,
    });
    return { url, state };
  }

  /**
   * Who comes back from the issuer with this query. A state works once, and only in the browser that has it in
   * its cookie. Costs requests for the tokens, for the keys at first, and for the claims.
   *
   * @throws {IssuerError} {OidcRefusedError}
   */
  async finish(
    query: string,
    cookie: string | undefined,
  ): Promise<{ issuer: string; claims: Claims; idToken: string; to: string }> {
    const state = new URLSearchParams(query).get('state') ?? '';
    const pending = cookie === state ? this.pending.get(state) : undefined;
    this.pending.delete(state);
    if (!pending || pending.endsAt <= this.clock.now())
      throw new OidcRefusedError('This sign-in was begun in another browser, or too long ago. Begin again.');
    const { config, settings } = await this.configuration();
    const client = await import('openid-client');
    const checks = {
      pkceCodeVerifier: pending.verifier,
      expectedNonce: pending.nonce,
      expectedState: state,
      idTokenExpected: true,
    };
    try {
      const tokens = await client.authorizationCodeGrant(config, new URL(query, pending.redirectUri), checks);
      const own = tokens.claims();
      if (!own || tokens.id_token === undefined) throw new Error('the answer has no id token');
      if (own.iat * 1000 > this.clock.now() + MAX_AHEAD_MS)
        throw new Error('its id token is of the future: compare its clock with that of this machine');
      // Many issuers give groups and addresses only here.
      const more = config.serverMetadata().userinfo_endpoint
        ? await client.fetchUserInfo(config, tokens.access_token, own.sub)
        : {};
      return {
        issuer: settings.issuer,
        claims: { ...more, ...own },
        idToken: tokens.id_token,
        to: pending.to,
      };
    } catch (error) {
      if (error instanceof client.AuthorizationResponseError)
        throw new OidcRefusedError(
          `${settings.issuer} has not signed you in: ${error.error_description ?? error.error}.`,
          { cause: error },
        );
      throw issuerError(settings, error);
    }
  }

  /**
   * The address that ends the session at the issuer; undefined when it has none or does not answer. Without the id token
   * the issuer may ask the person.
   */
  async endSessionUrl(idToken: string | undefined, backTo: string): Promise<URL | undefined> {
    try {
      const { config } = await this.configuration();
      if (!config.serverMetadata().end_session_endpoint) return undefined;
      const { buildEndSessionUrl } = await import('openid-client');
      return buildEndSessionUrl(config, {
        ...(idToken === undefined ? {} : { id_token_hint: idToken }),
        post_logout_redirect_uri: backTo,
      });
    } catch {
      return undefined; // the session here has ended in any case
    }
  }

  private async configuration(): Promise<{ config: Configuration; settings: Oidc }> {
    const settings = this.access().oidc;
    if (!settings) throw new OidcRefusedError('Sign-in by OpenID Connect is not set up (access.oidc).');
    const now = this.clock.now();
    if (this.known?.settings !== settings || (this.known.failedAt ?? now) + FAILED_MS <= now) {
      const known: NonNullable<typeof this.known> = { settings, config: discover(settings) };
      this.known = known;
      known.config.catch(() => {
        known.failedAt = this.clock.now();
      });
    }
    try {
      return { config: await this.known.config, settings };
    } catch (error) {
      throw issuerError(settings, error);
    }
  }
}

async function discover({ issuer, clientId, clientSecret }: Oidc): Promise<Configuration> {
  const client = await import('openid-client');
  const url = new URL(issuer);
  const authentication = clientSecret === undefined ? client.None() : client.ClientSecretBasic(clientSecret);
  return client.discovery(url, clientId, clientSecret, authentication, {
    timeout: TIMEOUT_S,
    execute: [
      // The signature of the ID token counts, in addition to the TLS of the issuer.
      client.enableNonRepudiationChecks,
      // The settings accept plain HTTP on this machine only.
      ...(url.protocol === 'http:' ? [client.allowInsecureRequests] : []),
    ],
  });
}

function issuerError({ issuer }: Oidc, error: unknown): IssuerError {
  const cause = error instanceof Error && error.cause instanceof Error ? `: ${error.cause.message}` : '';
  return new IssuerError(
    `The sign-in service ${issuer} does not answer as it should (${messageOf(error)}${cause}). Try again later, or sign in another way.`,
    { cause: error },
  );
}
