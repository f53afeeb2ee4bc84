import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism, homedir } from 'node:os'
import { dirname, join, resolve, win32 } from 'node:path'
import { isRuntimeName, type RuntimeName, runtimeNames } from './contract/runtimes.ts'
import { type Environment, variableOf } from './lib/environment.ts'
import { normalizeRegistryHost } from './lib/image-name.ts'
import type { RegistrarChoice } from './optional/registrar/index.ts'
import type { DnsDriverChoice } from './tls/acme/dns-drivers.ts'

/** How an instance is run. In `server/`, only this file reads the environment. */
export interface PlatformOptions {
  data_dir: string
  host: string
  /** 0 means any free port. */
  port: number
  edge_port: number
  edge_https_port: number
  /** Whether the next free port is used when this one is taken. True only for a default that the user did not choose. */
  port_may_change: boolean
  edge_port_may_change: boolean
  edge_https_port_may_change: boolean
  runtime: 'auto' | RuntimeName
  /** The folder of the built dashboard, if there is one. */
  dashboard_dir: string | null
  master_key_file: string | null
  /** Certificates that builds trust in addition to their own. */
  ca_file: string | null
  npmrc_file: string | null
  docker_host: string | null
  /** The registry from which the nodes of a swarm pull images, with an optional path. */
  registry: string | null
  /** The browser that takes screenshots: its path, `auto` to find one, `off` for none. */
  chromium: string
  /** The mail server as `smtp://user:password@host:587`, and the sender of emails. */
  smtp_url: string | null
  smtp_from: string | null
  home: string
  hosts_path: string
  /** The environment of the host process. Each tool that Homeport starts receives only an allow-list of it. */
  environment: Environment
  /** Node's own binary and npm's `npm-cli.js`, for builds without Docker. */
  node_path: string
  npm_cli_path: string
  /** `off`: builds and apps without Docker run outside a sandbox. */
  sandbox: 'auto' | 'off'
  cpus: number
  /** How many processes serve the apps' traffic. 0: this one. */
  edge_workers: number
  /** The program of these processes. */
  edge_worker_path: string
  /** Projects answer below this domain too. null: only below `localhost`. */
  apps_domain: string | null
  /** The certificate authority for public names. null: there are no public certificates. */
  acme: AcmeOptions | null
  /** The registrar that sells domains. */
  registrar: RegistrarChoice
  /** null: no payment processor. */
  stripe: StripeOptions | null
  /** Why there is no window, or why the window is less secure than it should be. The doctor reports it. null: no problem. */
  window_note: WindowNote | null
  /** Names that the API answers to in addition to the loopback names, such as the machine's name on a network. */
  hostnames: readonly string[]
}

export interface AcmeOptions {
  /** The URL of the authority's directory (RFC 8555 §7.1.1). */
  directory: string
  email: string
  /** Who sets the DNS records of a wildcard certificate for the apps domain. null: each name has a certificate of its own, by HTTP-01. */
  dns: DnsDriverChoice | null
}

export interface WindowNote {
  message: string
  hint: string
}

export interface StripeOptions {
  secret_key: string
  publishable_key: string | null
  /** null: webhook events of the processor are refused. */
  webhook_secret: string | null
  /** Replaces Stripe's own address, for a fake in tests. null: Stripe. */
  api_base: string | null
}

export interface PlatformFlags {
  data?: string | undefined
  host?: string | undefined
  port?: string | undefined
  'edge-port'?: string | undefined
  'edge-https-port'?: string | undefined
  runtime?: string | undefined
  'edge-workers'?: string | undefined
  'apps-domain'?: string | undefined
  'acme-email'?: string | undefined
  'acme-directory'?: string | undefined
  'acme-accept-terms'?: boolean | undefined
}

const maxEdgeWorkers = 32

export const defaultPort = 4600
export const defaultEdgePort = 4680
const defaultEdgeHttpsPort = 4643

/** File names of the master key in a data folder: `open` is plain and readable by its owner only, `sealed` is wrapped by the desktop's keychain. */
export const masterKeyFiles = { open: 'master.key', sealed: 'master.key.sealed' } as const

/** A wrong flag or variable. The command line exits with status 2. */
export class UsageError extends Error {}

/** Flags win over the environment, which wins over the defaults. Throws `UsageError`. */
export function readOptions(flags: PlatformFlags = {}, env: NodeJS.ProcessEnv = process.env): PlatformOptions {
  const port = flags.port ?? env.HOMEPORT_PORT
  const edgePort = flags['edge-port'] ?? env.HOMEPORT_EDGE_PORT
  // An edge on any free port also gets any free port for HTTPS.
  const edgeHttpsPort = flags['edge-https-port'] ?? env.HOMEPORT_EDGE_HTTPS_PORT ?? (edgePort === '0' ? '0' : undefined)
  // An empty host counts as unset, because the system would bind every address of this machine.
  const host = flags.host?.trim() || env.HOMEPORT_HOST?.trim() || '127.0.0.1'
  const runtime = flags.runtime ?? env.HOMEPORT_RUNTIME ?? 'auto'
  if (runtime !== 'auto' && !isRuntimeName(runtime)) throw new UsageError(`--runtime is auto, ${runtimeNames.join(' or ')}, not ${runtime}.`)
  return {
    data_dir: resolveDataFolder(flags.data, env),
    host,
    port: parsePort('--port', port, defaultPort),
    edge_port: parsePort('--edge-port', edgePort, defaultEdgePort),
    edge_https_port: parsePort('--edge-https-port', edgeHttpsPort, defaultEdgeHttpsPort),
    port_may_change: port === undefined,
    edge_port_may_change: edgePort === undefined,
    edge_https_port_may_change: edgeHttpsPort === undefined,
    runtime,
    dashboard_dir: findDashboardFolder(),
    master_key_file: env.HOMEPORT_MASTER_KEY_FILE ?? null,
    ca_file: [env.NODE_EXTRA_CA_CERTS, env.SSL_CERT_FILE].find((file) => file !== undefined && existsSync(file)) ?? null,
    npmrc_file: env.HOMEPORT_NPMRC ?? null,
    docker_host: readDockerHost(env) ?? null,
    registry: readRegistry(env),
    chromium: env.HOMEPORT_CHROMIUM || 'auto',
    ...readSmtp(env),
    home: homedir(),
    hosts_path: resolveHostsPath(env),
    environment: { ...env },
    ...resolveToolPaths(env),
    sandbox: readSandbox(env),
    cpus: availableParallelism(),
    edge_workers: parseEdgeWorkers(flags['edge-workers'] ?? env.HOMEPORT_EDGE_WORKERS, host),
    edge_worker_path: findEdgeWorker(),
    ...readPublicNames(flags, env, host),
    registrar: readRegistrar(env),
    stripe: readStripe(env),
    window_note: readWindowNote(env),
    hostnames: [],
  }
}

function readRegistry(env: NodeJS.ProcessEnv): string | null {
  const text = env.HOMEPORT_REGISTRY?.trim().replace(/\/+$/, '')
  if (!text) return null
  const [, ...path] = text.split('/')
  if (normalizeRegistryHost(text) === undefined || text.includes('://') || !path.every((part) => /^[a-z0-9]+(?:[._-]+[a-z0-9]+)*$/.test(part)))
    throw new UsageError('HOMEPORT_REGISTRY is a registry with an optional path, such as registry.example.com:5000/apps.')
  return text
}

/** The data folder of an instance: by flag, environment, or convention of the operating system. */
export function resolveDataFolder(
  flag: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
  platform: NodeJS.Platform = process.platform,
): string {
  const chosen = flag ?? env.HOMEPORT_DATA
  if (chosen !== undefined && chosen !== '') return resolve(chosen)
  const home = homedir()
  if (platform === 'darwin') return join(home, 'Library', 'Application Support', 'Homeport')
  if (platform === 'win32') return win32.join(variableOf(env, 'LOCALAPPDATA', platform) ?? win32.join(home, 'AppData', 'Local'), 'Homeport')
  return join(env.XDG_DATA_HOME ?? join(home, '.local', 'share'), 'homeport')
}

/** The hosts file of the operating system. */
export function resolveHostsPath(env: NodeJS.ProcessEnv = process.env, platform: NodeJS.Platform = process.platform): string {
  if (platform !== 'win32') return '/etc/hosts'
  return win32.join(variableOf(env, 'SystemRoot', platform) ?? 'C:\\Windows', 'System32', 'drivers', 'etc', 'hosts')
}

/** Where the command line finds an instance: by flag, then by environment, then by the data folder. */
export function readInstanceLocation(
  flags: { data?: string | undefined; url?: string | undefined; token?: string | undefined },
  env: NodeJS.ProcessEnv = process.env,
) {
  const chosen = (flag: string | undefined, variable: string | undefined) => (flag ?? variable) || undefined
  return { url: chosen(flags.url, env.HOMEPORT_URL), token: chosen(flags.token, env.HOMEPORT_TOKEN), data_dir: resolveDataFolder(flags.data, env) }
}

/** The token of a remote instance, for the command that adds it. */
export const readRemoteToken = (env: NodeJS.ProcessEnv = process.env): string | undefined => env.HOMEPORT_REMOTE_TOKEN?.trim() || undefined

/** The address of the Docker engine that the user has chosen. */
export const readDockerHost = (env: NodeJS.ProcessEnv = process.env): string | undefined => env.DOCKER_HOST || undefined

/** What a terminal can show: colors according to NO_COLOR and FORCE_COLOR, and whether a browser could open on this machine. */
export function detectTerminal(is_tty: boolean, env: NodeJS.ProcessEnv = process.env) {
  const forced = env.FORCE_COLOR !== undefined && env.FORCE_COLOR !== '0'
  return {
    has_colour: forced || (is_tty && !env.NO_COLOR && env.TERM !== 'dumb'),
    has_display: process.platform === 'darwin' || process.platform === 'win32' || Boolean(env.DISPLAY ?? env.WAYLAND_DISPLAY),
  }
}

/** The environment of a program that receives secrets: this process's own, plus the secrets. */
export const withSecrets = (secrets: Record<string, string>): NodeJS.ProcessEnv => ({ ...process.env, ...secrets })

function readSandbox({ HOMEPORT_SANDBOX: value = 'auto' }: NodeJS.ProcessEnv): PlatformOptions['sandbox'] {
  if (value !== 'auto' && value !== 'off') throw new UsageError(`HOMEPORT_SANDBOX is auto or off, not ${value}.`)
  return value
}

/** `npm start` sets this variable when it cannot open a window. */
function readWindowNote({ HOMEPORT_NO_WINDOW: reason }: NodeJS.ProcessEnv): WindowNote | null {
  return reason ? { message: `Homeport runs without a window: ${reason}`, hint: 'Fix that, then run npm start again.' } : null
}

function readRegistrar(env: NodeJS.ProcessEnv): RegistrarChoice {
  const name = env.HOMEPORT_REGISTRAR || 'local'
  if (name === 'local' || name === 'off') return { name }
  if (name !== 'porkbun') throw new UsageError(`HOMEPORT_REGISTRAR is local, porkbun or off, not ${name}.`)
  const api_key = env.HOMEPORT_PORKBUN_API_KEY
  const secret_key = env.HOMEPORT_PORKBUN_SECRET_KEY
  if (!api_key || !secret_key) throw new UsageError('HOMEPORT_REGISTRAR=porkbun needs HOMEPORT_PORKBUN_API_KEY and HOMEPORT_PORKBUN_SECRET_KEY.')
  return { name, api_key, secret_key, api_base: requireSecureBaseUrl('HOMEPORT_PORKBUN_API_BASE', env.HOMEPORT_PORKBUN_API_BASE) }
}

const acmeDirectories: Record<string, string> = {
  production: 'https://acme-v02.api.letsencrypt.org/directory',
  staging: 'https://acme-staging-v02.api.letsencrypt.org/directory',
}

function readPublicNames(flags: PlatformFlags, env: NodeJS.ProcessEnv, host: string): Pick<PlatformOptions, 'apps_domain' | 'acme'> {
  const domain = (flags['apps-domain'] ?? env.HOMEPORT_APPS_DOMAIN)?.trim().toLowerCase() || null
  const label = '[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?'
  if (domain !== null && (!new RegExp(`^(${label}\\.)+${label}$`).test(domain) || domain.length > 180 || /(^|\.)(localhost|\d+)$/.test(domain)))
    throw new UsageError(`--apps-domain is a domain such as apps.example.com, not ${domain}.`)
  // A project could otherwise have the name of the dashboard.
  if (domain !== null && host.toLowerCase().endsWith(`.${domain}`))
    throw new UsageError(`--host ${host} is below --apps-domain ${domain}, where the projects are. Choose another domain for one of the two.`)
  const email = (flags['acme-email'] ?? env.HOMEPORT_ACME_EMAIL)?.trim()
  if (!email) return { apps_domain: domain, acme: null }
  if (!/^[^@\s]+@[^@\s]+\.[^@\s]+$/.test(email)) throw new UsageError(`--acme-email is an email address, not ${email}.`)
  if (flags['acme-accept-terms'] !== true && env.HOMEPORT_ACME_ACCEPT_TERMS !== 'true')
    throw new UsageError('--acme-email needs --acme-accept-terms, which says that you accept the terms of the certificate authority.')
  const directory = flags['acme-directory'] ?? (env.HOMEPORT_ACME_DIRECTORY || 'production')
  const url = acmeDirectories[directory] ?? directory
  if (URL.parse(url)?.protocol !== 'https:') throw new UsageError(`--acme-directory is production, staging or an https address, not ${directory}.`)
  return { apps_domain: domain, acme: { directory: url, email, dns: readDnsDriver(env, domain) } }
}

function readDnsDriver(env: NodeJS.ProcessEnv, appsDomain: string | null): DnsDriverChoice | null {
  const name = env.HOMEPORT_ACME_DNS
  if (!name) return null
  if (appsDomain === null) throw new UsageError('HOMEPORT_ACME_DNS is for the certificate of the apps domain, so it needs --apps-domain.')
  if (name === 'webhook') {
    const url = requireSecureBaseUrl('HOMEPORT_ACME_DNS_URL', env.HOMEPORT_ACME_DNS_URL)
    if (url === null) throw new UsageError('HOMEPORT_ACME_DNS=webhook needs HOMEPORT_ACME_DNS_URL.')
    return { name, url, token: env.HOMEPORT_ACME_DNS_TOKEN || null }
  }
  if (name !== 'cloudflare') throw new UsageError(`HOMEPORT_ACME_DNS is webhook or cloudflare, not ${name}.`)
  const token = env.HOMEPORT_CLOUDFLARE_API_TOKEN
  if (!token) throw new UsageError('HOMEPORT_ACME_DNS=cloudflare needs HOMEPORT_CLOUDFLARE_API_TOKEN.')
  return { name, token, api_base: requireSecureBaseUrl('HOMEPORT_CLOUDFLARE_API_BASE', env.HOMEPORT_CLOUDFLARE_API_BASE) }
}

function requireSecureBaseUrl(variable: string, address: string | undefined): string | null {
  if (!address) return null
  const base = URL.parse(address)
  const isLoopback = ['localhost', '127.0.0.1', '[::1]'].includes(base?.hostname ?? '')
  if (base?.protocol !== 'https:' && !(base?.protocol === 'http:' && isLoopback))
    throw new UsageError(`${variable} must be an https address, or an http address of this machine, because the secret key is sent there.`)
  return address
}

function readStripe(env: NodeJS.ProcessEnv): StripeOptions | null {
  const secret_key = env.HOMEPORT_STRIPE_SECRET_KEY
  if (!secret_key) return null
  const api_base = requireSecureBaseUrl('HOMEPORT_STRIPE_API_BASE', env.HOMEPORT_STRIPE_API_BASE)
  return {
    secret_key,
    publishable_key: env.HOMEPORT_STRIPE_PUBLISHABLE_KEY || null,
    webhook_secret: env.HOMEPORT_STRIPE_WEBHOOK_SECRET || null,
    api_base,
  }
}

function parsePort(flag: string, text: string | undefined, fallback: number): number {
  if (text === undefined) return fallback
  const port = Number(text)
  if (!/^\d{1,5}$/.test(text) || port > 65_535) throw new UsageError(`${flag} is a number from 0 to 65535, not ${text}.`)
  return port
}

/** Whether an address to listen on is for this machine alone. */
export const isLoopbackHost = (host: string): boolean => host === 'localhost' || host === '::1' || host.startsWith('127.')

/** `auto`: one, so that apps never take time from the API; on a server, which has visitors from other machines, one per core. */
function parseEdgeWorkers(text: string | undefined, host: string): number {
  if (text === undefined || text === '' || text === 'auto') return isLoopbackHost(host) ? 1 : Math.min(availableParallelism(), maxEdgeWorkers)
  const count = Number(text)
  if (!/^\d{1,2}$/.test(text) || count > maxEdgeWorkers)
    throw new UsageError(`--edge-workers is auto or a number from 0 to ${maxEdgeWorkers}, not ${text}.`)
  return count
}

function isSmtpUrl(url: string): boolean {
  const parsed = URL.parse(url)
  try {
    return (
      parsed !== null &&
      /^smtps?:$/.test(parsed.protocol) &&
      parsed.hostname !== '' &&
      decodeURIComponent(parsed.username + parsed.password) !== undefined
    )
  } catch {
    return false
  }
}

function readSmtp(env: NodeJS.ProcessEnv): Pick<PlatformOptions, 'smtp_url' | 'smtp_from'> {
  const url = env.HOMEPORT_SMTP_URL || null
  // The error does not quote the URL, because the URL contains a password.
  if (url !== null && !isSmtpUrl(url))
    throw new UsageError('HOMEPORT_SMTP_URL is an address such as smtp://user:password@mail.example.com:587, or smtps://… for TLS from the start.')
  return { smtp_url: url, smtp_from: env.HOMEPORT_SMTP_FROM || null }
}

/** In a desktop package, what other processes run is in `app.asar.unpacked`, next to the archive. */
const ownFile = import.meta.filename.replace(/\bapp\.asar(?=[\\/])/, 'app.asar.unpacked')

/** Next to the bundle, or in the checkout when the server runs from source. */
function findEdgeWorker(): string {
  const bundled = join(dirname(ownFile), 'edge-worker.js')
  return existsSync(bundled) ? bundled : join(dirname(ownFile), 'edge/workers/worker.ts')
}

function resolveToolPaths(env: NodeJS.ProcessEnv): Pick<PlatformOptions, 'node_path' | 'npm_cli_path'> {
  const packages = createRequire(ownFile)
  const folderOf = (name: string) => dirname(packages.resolve(`${name}/package.json`))
  return {
    node_path: resolveNodePath(join(folderOf('node'), 'bin', process.platform === 'win32' ? 'node.exe' : 'node'), env),
    npm_cli_path: join(folderOf('npm'), 'bin', 'npm-cli.js'),
  }
}

/**
 * In Electron the running binary is not Node, so the binary of the `node` package is used. If that package could not be installed, `npm start` puts
 * the path of the machine's own Node in `HOMEPORT_NODE`.
 */
export function resolveNodePath(bundled: string, env: NodeJS.ProcessEnv, is_electron = process.versions.electron !== undefined): string {
  if (!is_electron) return process.execPath
  return existsSync(bundled) ? bundled : (env.HOMEPORT_NODE ?? bundled)
}

/**
 * The dashboard is next to the bundle (`out/renderer` and `out/main`), or in the checkout when the server runs from source. Only a built dashboard
 * has `assets`.
 */
function findDashboardFolder(): string | null {
  const here = dirname(import.meta.filename)
  return (
    [join(here, '../renderer'), join(here, '../out/renderer'), join(here, '../../out/renderer')].find((folder) =>
      existsSync(join(folder, 'assets')),
    ) ?? null
  )
}
