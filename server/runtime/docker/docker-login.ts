import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access, readFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { dockerHub, normalizeRegistryHost } from '../../lib/image-name.ts'
import type { RegistryLogin } from '../registries.ts'

/** The credentials that `docker login` has stored for the user who runs Homeport. Nothing is cached, so a new login takes effect at once. */
export interface DockerLogin {
  /** The registries with a login, without calling a credential helper. */
  listHosts(): Promise<string[]>
  /** The login for this host only. */
  find(host: string): Promise<RegistryLogin | undefined>
}

export interface DockerLoginOptions {
  /** The configuration folder of the docker command. */
  config_dir: string
  home: string
  /** The PATH, on which credential helpers are searched first. */
  path: string
  /** The environment of credential helpers. */
  environment: Record<string, string>
}

/** The parts of `config.json` about registries. */
interface DockerConfig {
  auths?: Record<string, { auth?: string; username?: string; password?: string; identitytoken?: string }>
  credsStore?: string
  credHelpers?: Record<string, string>
}

/** The name by which Docker stores the sign-in of Docker Hub. */
const dockerHubKey = 'https://index.docker.io/v1/'
/** A helper may ask for a fingerprint or the password of a keychain. */
const helperTimeout_ms = 60_000

export function createDockerLogin(options: DockerLoginOptions): DockerLogin {
  const readConfig = async (): Promise<DockerConfig> => {
    try {
      const parsed: unknown = JSON.parse(await readFile(join(options.config_dir, 'config.json'), 'utf8'))
      return typeof parsed === 'object' && parsed !== null ? parsed : {}
    } catch {
      // The file is missing, or the docker command cannot read it either.
      return {}
    }
  }
  return {
    async listHosts() {
      const { auths = {}, credHelpers = {} } = await readConfig()
      return [...new Set([...Object.keys(auths), ...Object.keys(credHelpers)].flatMap((key) => normalizeRegistryHost(key) ?? []))].toSorted()
    },
    async find(host) {
      const { auths = {}, credHelpers = {}, credsStore } = await readConfig()
      const isOfHost = (key: string) => normalizeRegistryHost(key) === host
      const key = Object.keys(auths).find(isOfHost) ?? (host === dockerHub ? dockerHubKey : host)
      const helperKey = Object.keys(credHelpers).find(isOfHost)
      const helper = helperKey === undefined ? credsStore : credHelpers[helperKey]
      if (typeof helper === 'string' && helper !== '') return askHelper(helper, key, host, options)
      const entry = auths[key]
      return entry && readEntry(entry, host)
    },
  }
}

function readEntry(entry: NonNullable<DockerConfig['auths']>[string], host: string): RegistryLogin | undefined {
  if (entry.identitytoken) return { host, username: '', password: '', identity_token: entry.identitytoken, origin: 'docker_login' }
  const text = entry.auth ? Buffer.from(entry.auth, 'base64').toString('utf8') : `${entry.username ?? ''}:${entry.password ?? ''}`
  const colon = text.indexOf(':')
  if (colon < 1) return undefined
  // The docker command pads what it decodes with NUL characters.
  return { host, username: text.slice(0, colon), password: text.slice(colon + 1).replaceAll('\0', ''), origin: 'docker_login' }
}

/** Runs `docker-credential-NAME get`, with the registry on its standard input. */
async function askHelper(name: string, key: string, host: string, options: DockerLoginOptions): Promise<RegistryLogin | undefined> {
  const file = await findHelper(name, options)
  if (file === undefined) return undefined
  const output = await new Promise<string | undefined>((resolve) => {
    const settings = { timeout: helperTimeout_ms, maxBuffer: 1024 * 1024, env: options.environment, windowsHide: true }
    const child = execFile(file, ['get'], settings, (error, stdout) => resolve(error ? undefined : stdout))
    // A helper may exit without reading its input.
    child.stdin?.on('error', () => {})
    child.stdin?.end(key)
  })
  try {
    const { Username, Secret } = JSON.parse(output ?? '') as { Username?: unknown; Secret?: unknown }
    if (typeof Username !== 'string' || typeof Secret !== 'string' || Secret === '') return undefined
    return Username === '<token>'
      ? { host, username: '', password: '', identity_token: Secret, origin: 'docker_login' }
      : { host, username: Username, password: Secret, origin: 'docker_login' }
  } catch {
    return undefined
  }
}

/** Desktop programs have a short PATH, so the folders in which Docker Desktop and package managers install helpers are searched too. */
async function findHelper(name: string, { path, home }: DockerLoginOptions): Promise<string | undefined> {
  if (!/^[A-Za-z0-9][\w.-]{0,99}$/.test(name)) return undefined
  const isWindows = process.platform === 'win32'
  const folders = [
    ...path.split(delimiter),
    join(home, '.docker', 'bin'),
    ...(isWindows
      ? ['C:\\Program Files\\Docker\\Docker\\resources\\bin']
      : ['/usr/local/bin', '/opt/homebrew/bin', '/Applications/Docker.app/Contents/Resources/bin', '/usr/bin']),
  ]
  const program = `docker-credential-${name}${isWindows && !name.endsWith('.exe') ? '.exe' : ''}`
  for (const folder of folders.filter((one) => one !== '')) {
    const file = join(folder, program)
    const isProgram = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    )
    if (isProgram) return file
  }
  return undefined
}

export const defaultConfigFolder = (home: string): string => join(home, '.docker')
