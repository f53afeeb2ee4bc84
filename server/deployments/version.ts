import type { ProjectConfig, ServiceConfig } from '../contract/project-config.ts'
import type { Artifact } from '../runtime/runtime.ts'

/** What a deployment built and how it runs; stored as JSON in its row. */
export interface Version {
  /** The service with the project's address; null when nothing answers requests. */
  main: { config: ServiceConfig | null; artifact: Artifact } | null
  /** All other services. */
  services: { config: ServiceConfig; artifact: Artifact }[]
  release: ProjectConfig['release']
  /** Settings of the project that the file sets. */
  settings: ProjectConfig['settings']
}

/** A version with one app is stored as its artifact. */
type StoredVersion = Artifact | ({ kind: 'services' } & Version)

export function parseStoredVersion(json: string): Version {
  const stored = JSON.parse(json) as StoredVersion
  if (stored.kind !== 'services') return { main: { config: null, artifact: stored }, services: [], release: null, settings: {} }
  const { main, services, release, settings } = stored
  return { main, services, release, settings }
}

export function formatVersion(version: Version): string {
  const { main, services, release } = version
  const isSimple = main?.config === null && services.length === 0 && release === null
  return JSON.stringify((isSimple ? main.artifact : { kind: 'services', ...version }) satisfies StoredVersion)
}

/** Each artifact once, because services with the same build share theirs. */
export function listArtifacts({ main, services }: Version): Artifact[] {
  const all = [...(main ? [main.artifact] : []), ...services.map(({ artifact }) => artifact)]
  return [...new Map(all.map((artifact) => [JSON.stringify(artifact), artifact])).values()]
}

export const sumBytes = (version: Version): number => listArtifacts(version).reduce((sum, { bytes }) => sum + bytes, 0)
