/** The registry credentials of a project. */
export interface RegistryAccess {
  /** The project's own, each only for its host. */
  logins: RegistryLogin[]
  /** The project belongs to the user of this machine, whose `docker login` it may use. */
  uses_docker_login: boolean
}

export interface RegistryLogin {
  /** As `normalizeRegistryHost` returns it. */
  host: string
  username: string
  password: string
  /** Replaces user name and password. */
  identity_token?: string
  origin: 'project' | 'docker_login'
}
