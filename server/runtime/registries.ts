/** With what the images of a project may be pulled. */
export interface RegistryAccess {
  /** The project's own, each for its host alone. */
  logins: RegistryLogin[]
  /** The project belongs to the user of this machine, whose `docker login` it may use. */
  uses_docker_login: boolean
}

export interface RegistryLogin {
  /** As `normalizeRegistryHost` returns it. */
  host: string
  username: string
  password: string
  /** Takes the place of user name and password. */
  identity_token?: string
  origin: 'project' | 'docker_login'
}
