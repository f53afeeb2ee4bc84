import { type Environment, pickVariables } from '../lib/environment.ts'
import type { RepositoryAddress } from './repository-address.ts'

/** Variables of the host's environment that are passed to git; all others are removed. */
const passedVariables = [
  'PATH',
  'TMPDIR',
  'TEMP',
  'TMP',
  'SYSTEMROOT',
  'GIT_SSL_CAINFO',
  'GIT_SSL_CAPATH',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'CURL_CA_BUNDLE',
]
const proxyVariables = ['HTTP_PROXY', 'HTTPS_PROXY', 'NO_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy', 'no_proxy', 'all_proxy']

/** The environment of every git process: no user configuration, no prompts, English output. */
export function gitEnvironment(host: Environment, home: string, platform: NodeJS.Platform = process.platform): Record<string, string> {
  return {
    ...pickVariables(host, passedVariables, platform),
    HOME: home,
    XDG_CONFIG_HOME: home,
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_ASKPASS: 'true',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: platform === 'win32' ? 'NUL' : '/dev/null',
    GIT_OPTIONAL_LOCKS: '0',
  }
}

/** The variables that a fetch from an address adds: allowed protocols, credentials, ssh, the pinned address. */
export function gitFetchEnvironment(
  host: Environment,
  home: string,
  address: RepositoryAddress,
  credentials: { username: string; password: string } | null,
  platform: NodeJS.Platform = process.platform,
): Record<string, string> {
  const environment = { ...gitEnvironment(host, home, platform), GIT_ALLOW_PROTOCOL: address.scheme }
  if (address.pinned_ip === null) Object.assign(environment, pickVariables(host, proxyVariables, platform))
  if (address.pinned_ip !== null && address.scheme === 'git') Object.assign(environment, { GIT_OVERRIDE_VIRTUAL_HOST: address.host })
  if (credentials) Object.assign(environment, { HOMEPORT_GIT_USERNAME: credentials.username, HOMEPORT_GIT_PASSWORD: credentials.password })
  if (address.scheme === 'ssh') {
    // Uses the owner's keys and known hosts: ssh finds them in the user's real home folder.
    const ssh = 'ssh -o BatchMode=yes -o ConnectTimeout=20 -o StrictHostKeyChecking=accept-new -o ForwardAgent=no -o ClearAllForwardings=yes'
    Object.assign(environment, pickVariables(host, ['SSH_AUTH_SOCK', 'HOME'], platform), { GIT_SSH_COMMAND: ssh, GIT_SSH_VARIANT: 'ssh' })
  }
  return environment
}

/** Settings of every git process; they override the settings of a repository. */
export const safeGitSettings: string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.pager=cat',
  'core.quotePath=false',
  // On a case-insensitive file system, a repository could replace a folder with a link during checkout.
  `core.symlinks=${process.platform === 'linux'}`,
  'core.protectHFS=true',
  'core.protectNTFS=true',
  'protocol.ext.allow=never',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'transfer.bundleURI=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'advice.detachedHead=false',
].flatMap((setting) => ['-c', setting])

/** Settings of one fetch. A helper reads the credentials from the environment, so that they are not in the arguments. */
export function fetchGitSettings(address: RepositoryAddress, withCredentials: boolean): string[] {
  const settings = ['credential.helper=', 'http.lowSpeedLimit=1', 'http.lowSpeedTime=60']
  if (withCredentials) {
    const origin = new URL(address.url).origin
    settings.push(
      `credential.${origin}.helper=!f() { test "$1" = get && printf 'username=%s\\npassword=%s\\n' "$HOMEPORT_GIT_USERNAME" "$HOMEPORT_GIT_PASSWORD"; }; f`,
    )
  }
  if (address.pinned_ip !== null) {
    settings.push('http.followRedirects=false')
    const ip = address.pinned_ip.includes(':') ? `[${address.pinned_ip}]` : address.pinned_ip
    settings.push(`http.curloptResolve=${address.host}:${address.port}:${ip}`)
  }
  return settings.flatMap((setting) => ['-c', setting])
}

/** The address that git connects to; for git:// the pinned IP address replaces the host. */
export function connectUrl(address: RepositoryAddress): string {
  if (address.scheme !== 'git' || address.pinned_ip === null) return address.url
  const url = new URL(address.url)
  const ip = address.pinned_ip.includes(':') ? `[${address.pinned_ip}]` : address.pinned_ip
  return `git://${ip}:${address.port}${url.pathname}`
}
