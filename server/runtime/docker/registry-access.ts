import type { AuthConfig, RegistryConfig } from 'dockerode'
import { dockerHub, getRegistryHost } from '../../lib/image-name.ts'
import type { RegistryAccess, RegistryLogin } from '../registries.ts'
import type { DockerLogin } from './docker-login.ts'

type SignIns = { dockerLogin: DockerLogin }

/** The credentials for a registry: the project's own, else those of `docker login` if the project may use them. Always only for this host. */
export async function findRegistryLogin(engine: SignIns, access: RegistryAccess, host: string): Promise<RegistryLogin | undefined> {
  const own = access.logins.find((login) => login.host === host)
  return own ?? (access.uses_docker_login ? engine.dockerLogin.find(host) : undefined)
}

const getServerAddress = (host: string): string => (host === dockerHub ? 'https://index.docker.io/v1/' : host)

/** For X-Registry-Auth. */
const toAuthConfig = ({ host, username, password, identity_token }: RegistryLogin): AuthConfig & { identitytoken?: string } => ({
  username,
  password,
  serveraddress: getServerAddress(host),
  ...(identity_token !== undefined && { identitytoken: identity_token }),
})

/** The option of a pull; empty without credentials for the registry of the image. */
export async function createPullOptions(
  engine: SignIns,
  access: RegistryAccess,
  image: string,
): Promise<{ login: RegistryLogin | undefined; options: { authconfig?: AuthConfig } }> {
  const login = await findRegistryLogin(engine, access, getRegistryHost(image))
  return { login, options: login ? { authconfig: toAuthConfig(login) } : {} }
}

/**
 * For X-Registry-Config of the classic builder, which looks images up by host: the credentials for Docker Hub and for the registries in the
 * Dockerfile or its arguments.
 */
export async function createRegistryConfig(engine: SignIns, access: RegistryAccess, texts: readonly string[]): Promise<RegistryConfig | undefined> {
  const hosts = [...access.logins.map(({ host }) => host), ...(access.uses_docker_login ? await engine.dockerLogin.listHosts() : [])]
  const named = [...new Set(hosts)].filter((host) => host === dockerHub || texts.some((text) => text.toLowerCase().includes(host)))
  const logins = await Promise.all(named.map((host) => findRegistryLogin(engine, access, host)))
  const entries = logins.flatMap((login) => (login ? [[getServerAddress(login.host), toAuthConfig(login)] as const] : []))
  return entries.length === 0 ? undefined : (Object.fromEntries(entries) as RegistryConfig)
}
