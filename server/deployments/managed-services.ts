import { createHmac } from 'node:crypto'
import type { SourcePlan } from '../contract/build-plan.ts'
import type { ProjectConfig, ServiceConfig } from '../contract/project-config.ts'
import { type RuntimeName, runtimes } from '../contract/runtimes.ts'
import { getPreset, isPresetName, type PresetName } from '../contract/service-presets.ts'
import { requireFreeNames } from '../builder/index.ts'
import type { Sealer } from '../store/sealer.ts'
import type { ManagedServiceRow } from '../store/managed-tables.ts'
import type { AppSpec } from './supervised-app.ts'
import { parseStoredVersion, type Version } from './version.ts'

/** The managed services of a deployment's project, with their variables for the apps. */
export interface ManagedServices {
  names: PresetName[]
  variables: Record<string, string>
  secrets: string[]
}

/**
 * A removed service is still part of a version that was built before; that version gets its variables until it is replaced. On a runtime
 * without images there are none. `declared` are those that the source of a preview lists.
 */
export function readManagedServices(
  rows: readonly ManagedServiceRow[],
  { runtime, artifact, ...slot }: { runtime: RuntimeName; artifact: string | null } & Pick<AppSpec, 'target' | 'branch'>,
  sealer: Sealer,
  getPublicUrl: (service: string) => string,
  declared: readonly PresetName[] = [],
): ManagedServices {
  if (!runtimes[runtime].runs_images) return { names: [], variables: {}, secrets: [] }
  const built = new Set(artifact === null ? [] : parseStoredVersion(artifact).services.map(({ config }) => config.name))
  const used = rows.filter(({ name, removed_at }) => removed_at === null || built.has(name) || declared.some((one) => one === name))
  const names: PresetName[] = []
  const variables: Record<string, string> = {}
  const secrets: string[] = []
  for (const row of used) {
    const { name } = row
    if (!isPresetName(name)) continue
    const password = readServicePassword(row, slot, sealer)
    const preset = getPreset(name)
    names.push(name)
    secrets.push(password)
    const public_url = preset.is_public ? getPublicUrl(name) : ''
    Object.assign(variables, preset.variables({ host: name, port: preset.port, password, public_url }))
  }
  return { names, variables, secrets }
}

/** Each preview has its own password, which does not reveal production's. */
export function readServicePassword(
  { project_id, name, sealed_password }: ManagedServiceRow,
  { target, branch }: Pick<AppSpec, 'target' | 'branch'>,
  sealer: Sealer,
): string {
  const password = sealer.unseal({ table: 'managed_services', column: 'sealed_password', row: `${project_id} ${name}` }, sealed_password)
  return target === 'production'
    ? password
    : createHmac('sha256', password)
        .update(branch ?? '')
        .digest('base64url')
}

/** The service of a source that is a single app. */
const webName = 'web'

/** Adds managed services to the services of a source. A source that is a single app becomes the service `web`. */
export function addManagedServices(plan: SourcePlan, names: readonly PresetName[]): SourcePlan {
  if (names.length === 0) return plan
  const config = plan.config ?? createSingleAppConfig()
  requireFreeNames(config, names)
  const depends_on = names.map((service) => ({ service, condition: 'healthy' as const }))
  return {
    config: {
      ...config,
      services: [
        ...config.services.map((service) =>
          service.source.kind === 'build' ? { ...service, depends_on: [...service.depends_on, ...depends_on] } : service,
        ),
        ...names.map(createManagedConfig),
      ],
      explanation: [
        ...config.explanation,
        ...names.map((name) => `${getPreset(name).label}: the managed service ${name}, from ${getPreset(name).image}`),
      ],
    },
    builds: plan.config ? plan.builds : plan.builds.map((build) => ({ ...build, services: [webName] })),
  }
}

const createConfig = (fields: Pick<ServiceConfig, 'name' | 'kind' | 'source'> & Partial<ServiceConfig>): ServiceConfig => ({
  aliases: [],
  entrypoint: null,
  command: null,
  port: null,
  is_public: false,
  schedule: null,
  time_zone: null,
  working_directory: null,
  environment: {},
  environment_templates: {},
  volumes: [],
  depends_on: [],
  restart: 'always',
  health_check: null,
  memory_mb: null,
  cpus: null,
  replicas: null,
  ...fields,
})

/** A source without a configuration file as a service. */
export const createSingleAppService = (): ServiceConfig =>
  createConfig({
    name: webName,
    kind: 'web',
    source: { kind: 'build', directory: '.', dockerfile: null, target: null, arguments: {}, files: [] },
    is_public: true,
  })

const createSingleAppConfig = (): ProjectConfig => ({
  file: null,
  services: [createSingleAppService()],
  main: webName,
  release: null,
  managed: null,
  required_variables: [],
  settings: {},
  lines: {},
  explanation: [],
})

/** A version that was built by an older Homeport starts its managed services with the current presets. */
export const updateManagedServices = (version: Version): Version => ({
  ...version,
  services: version.services.map((one) => {
    const { name, source, volumes } = one.config
    if (!isPresetName(name) || !volumes.some((volume) => volume.name === getVolumeName(name))) return one
    return { ...one, config: { ...createManagedConfig(name), source } }
  }),
})

const getVolumeName = (name: PresetName): string => `managed-${name}`

function createManagedConfig(name: PresetName): ServiceConfig {
  const { image, port, entrypoint, command, data_path, is_public, environment, health } = getPreset(name)
  return createConfig({
    name,
    kind: 'image',
    source: { kind: 'image', image, files: [] },
    entrypoint,
    command,
    port,
    is_public,
    environment_templates: environment,
    volumes: [{ name: getVolumeName(name), path: data_path, is_read_only: false }],
    health_check: health,
  })
}
