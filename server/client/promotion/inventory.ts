import type { Watching } from '../../contract/previews.ts'
import type { ProjectSettings } from '../../contract/project-settings.ts'
import type { PresetName } from '../../contract/service-presets.ts'
import type { Volume } from '../../contract/volumes.ts'
import { ApiError } from '../api-error.ts'
import type { CallInput, CallOutput } from '../operation-types.ts'
import type { OperationId } from '../../contract/index.ts'
import type { PromotionClient } from './client.ts'
import { isUnsupported } from './report.ts'

/** Switches of automatic deployments. */
export type WatchingSettings = Pick<Watching, 'deploys_pushes' | 'previews' | 'preview_databases' | 'pull_requests' | 'pull_request_secrets'>

/** The parts of a project beyond the fields of /v1. Null: the instance has no such operation. */
export interface ProjectInventory {
  settings: ProjectSettings | null
  watching: WatchingSettings | null
  services: PresetName[] | null
  /** The reason why the instance cannot run managed services. */
  services_unavailable: string | null
  catches_mail: boolean | null
  has_database: boolean
  database_bytes: number | null
  volumes: Pick<Volume, 'name' | 'size_bytes' | 'added' | 'used_by'>[] | null
  /** Hosts of private registries with credentials. */
  registries: string[] | null
}

/** The inventory of a project that does not exist yet. */
export const emptyInventory: ProjectInventory = {
  settings: null,
  watching: null,
  services: [],
  services_unavailable: null,
  catches_mail: false,
  has_database: false,
  database_bytes: null,
  volumes: [],
  registries: [],
}

export async function readInventory(client: PromotionClient, isInstance: boolean, slug: string, signal: AbortSignal): Promise<ProjectInventory> {
  const input = { params: { slug }, signal }
  if (!isInstance) {
    const unsupported = { ...emptyInventory, services: null, catches_mail: null, volumes: null, registries: null }
    const found = await client.call('getDatabase', input).catch((error: unknown) => {
      if (error instanceof ApiError && error.code === 'database_not_found') return null
      throw error
    })
    return { ...unsupported, has_database: found !== null, database_bytes: found?.database.size_bytes ?? null }
  }
  /** Null on an instance without the operation. */
  const ask = <Id extends OperationId>(id: Id, request: CallInput<Id>): Promise<CallOutput<Id> | null> =>
    client.call(id, request).catch((error: unknown) => {
      if (isUnsupported(error)) return null
      throw error
    })
  const [settings, watching, services, mail, found, volumes, registries] = await Promise.all([
    ask('getProjectSettings', input),
    ask('getWatching', input),
    ask('listManagedServices', input),
    ask('getMail', input),
    ask('findDatabase', input),
    ask('listVolumes', input),
    ask('listRegistries', input),
  ])
  if (found && found.unavailable !== null) throw new ApiError('database_unavailable', found.unavailable, { status: 503 })
  return {
    settings: settings?.settings ?? null,
    watching: watching && pickWatching(watching.watching),
    services: services?.services.filter(({ is_added }) => is_added).map(({ name }) => name) ?? null,
    services_unavailable: services?.unavailable ?? null,
    catches_mail: mail?.catcher.is_enabled ?? null,
    has_database: found !== null && found.database !== null,
    database_bytes: found?.database?.size_bytes ?? null,
    volumes: volumes?.volumes.map(({ name, size_bytes, added, used_by }) => ({ name, size_bytes, added, used_by })) ?? null,
    registries: registries?.registries.map(({ host }) => host) ?? null,
  }
}

const pickWatching = ({ deploys_pushes, previews, preview_databases, pull_requests, pull_request_secrets }: Watching): WatchingSettings => ({
  deploys_pushes,
  previews,
  preview_databases,
  pull_requests,
  pull_request_secrets,
})
