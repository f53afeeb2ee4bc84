import { posix } from 'node:path'
import type { ServiceConfig } from '../contract/project-config.ts'
import type { ProjectVolumeRow } from '../store/volume-tables.ts'
import { createSingleAppService } from './managed-services.ts'
import type { Version } from './version.ts'

/** Mounts the volumes of a project in the services of a version. A source that is one app becomes the service `web`. */
export function addProjectVolumes(version: Version, rows: readonly ProjectVolumeRow[], note: (line: string) => void): Version {
  const added = rows.filter(({ removed_at }) => removed_at === null)
  const mount = (config: ServiceConfig, isMain: boolean): ServiceConfig => {
    const volumes = added
      .filter(({ service }) => service === config.name || (isMain && service === ''))
      .filter(({ name, path }) => {
        const existing = config.volumes.find((one) => isSamePath(one.path, path))
        if (existing && existing.name !== name)
          note(`The volume “${existing.name}” is at ${path}, so that “${name}”, which was added to the project, is not used.`)
        return !existing
      })
    for (const { name, path } of volumes) note(`Volume “${name}” at ${path} of ${config.name}`)
    const mounts = volumes.map(({ name, path, is_file }) => ({ name, path, is_read_only: false, ...(is_file === 1 && { is_file: true }) }))
    return mounts.length === 0 ? config : { ...config, volumes: [...config.volumes, ...mounts] }
  }
  const { main, services } = version
  const isOfMain = ({ service }: ProjectVolumeRow) => service === '' || service === (main?.config ?? createSingleAppService()).name
  const isStatic = main?.artifact.kind === 'static'
  if (isStatic && added.some(isOfMain)) note('A static site has no volumes.')
  const mountMain = main && !isStatic && added.some(isOfMain)
  return {
    ...version,
    main: mountMain ? { ...main, config: mount(main.config ?? createSingleAppService(), true) } : main,
    services: services.map((service) => ({ ...service, config: mount(service.config, false) })),
  }
}

/** A path of a file may be relative to the app's folder, which is /app in a container. */
const isSamePath = (a: string, b: string): boolean => posix.resolve('/app', a) === posix.resolve('/app', b)
