import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { type Clock, sleep } from '../../lib/clock.ts'
import { type CertificateWithKey, createSigningRequest } from '../certificate.ts'
import { type AcmeClient, AcmeError, type Challenge, createAcmeClient } from './acme-client.ts'
import type { DnsDriver } from './dns-drivers.ts'

/** The account at an authority. Its key is kept encrypted. */
export interface AcmeAccount {
  directory: string
  /** PEM. */
  key: string
  /** Null until the authority has created the account. */
  url: string | null
}

export interface AcmeIssuerOptions {
  directory: string
  email: string
  clock: Clock
  accounts: { read(directory: string): Promise<AcmeAccount | undefined>; write(account: AcmeAccount): Promise<void> }
  /** See `Edge.setChallenges`. */
  setChallenges(host: string, responses: Record<string, string>): Promise<void>
  /** For wildcards; null: there are none. */
  dns: DnsDriver | null
  hasTxtRecord(name: string, value: string): Promise<boolean>
}

/** Gets a certificate for a name, or for all names `*.` below one. */
export type IssueCertificate = (name: string, signal: AbortSignal) => Promise<CertificateWithKey>

const propagationPoll_ms = 5_000
const maxPropagationPolls = 24

export function createAcmeIssuer(options: AcmeIssuerOptions): IssueCertificate {
  const { directory, email, clock, accounts, dns } = options
  let client: Promise<AcmeClient> | undefined

  const openAccount = async (): Promise<AcmeClient> => {
    const known = await accounts.read(directory)
    const key = known ? createPrivateKey(known.key) : generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
    const account = known ?? { directory, key: key.export({ type: 'pkcs8', format: 'pem' }).toString(), url: null }
    // Stored before it is used, so that no account is lost to a crash.
    if (!known) await accounts.write(account)
    const onAccount = (url: string) => accounts.write({ ...account, url })
    return createAcmeClient({ directory, email, clock, key, account_url: account.url ?? undefined, onAccount })
  }

  const solveByHttp = async ({ name, token, key_authorization }: Challenge) => {
    await options.setChallenges(name, { [token]: key_authorization })
    return () => options.setChallenges(name, {})
  }

  const solveByDns = (driver: DnsDriver, signal: AbortSignal) => async (challenge: Challenge) => {
    const name = `_acme-challenge.${challenge.name}`
    await driver.addTxt(name, challenge.txt_value)
    // If it does not become visible here, the authority decides.
    for (let poll = 0; poll < maxPropagationPolls && !(await options.hasTxtRecord(name, challenge.txt_value)); poll++)
      await sleep(clock, propagationPoll_ms, signal)
    return () => driver.removeTxt(name, challenge.txt_value)
  }

  return async (name, signal) => {
    client ??= openAccount()
    client.catch(() => (client = undefined))
    const { request, key } = createSigningRequest([name])
    const isWildcard = name.startsWith('*.')
    if (isWildcard && !dns) throw new AcmeError('unsupported', 'A wildcard certificate needs a DNS driver.')
    const certificate = await (
      await client
    ).order({
      name,
      request,
      challenge: isWildcard ? 'dns-01' : 'http-01',
      solve: isWildcard && dns ? solveByDns(dns, signal) : solveByHttp,
      signal,
    })
    const leaf = new X509Certificate(certificate)
    if (!leaf.checkPrivateKey(createPrivateKey(key)) || leaf.checkHost(name.replace('*', 'any')) === undefined)
      throw new AcmeError('unexpected', `The certificate authority sent a certificate that is not for ${name}.`)
    return { certificate, key }
  }
}
