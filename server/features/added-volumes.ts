import { posix } from 'node:path'
import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'
import { runtimes } from '../contract/runtimes.ts'
import type { volumeOperations } from '../contract/volumes.ts'
import { isoTime } from '../lib/clock.ts'
import { insertProjectVolume, listProjectVolumes, updateProjectVolume } from '../store/project-volumes.ts'
import type { ProjectVolumeRow } from '../store/volume-tables.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { redeployInTransaction, requireRedeployable } from './redeploy.ts'

/** Volumes that a project has without a configuration file. */
export function createAddedVolumeHandlers(
  deps: FeatureDeps,
): Pick<OperationHandlers, Extract<keyof typeof volumeOperations, 'addVolume' | 'detachVolume'>> {
  const { store, clock, deployments } = deps
  return {
    async addVolume({ project }, { body }) {
      const live = deployments.volumes.describeLive({ project_id: project.id, branch: undefined })
      const path = resolveMountPath(body.path)
      if (!live.accepts_any_path && !path.startsWith(`${appFolder}/`))
        throw new Problem('invalid_input', `The path ${path} is outside of the app’s folder ${appFolder}. ${runtimes.docker.how_to_start}`)
      if (body.service !== undefined && !live.services.includes(body.service))
        throw new Problem('service_not_found', `The live version has no service “${body.service}”. List them with homeport services ${project.slug}.`)
      const service = body.service === live.main_service ? '' : (body.service ?? '')
      if (service === '' && live.is_static)
        throw new Problem('invalid_input', 'This project is a static site. Homeport serves its files itself, so that it has no volumes.')
      const isOfService = (one: { service: string }) => one.service === (service === '' ? live.main_service : service)
      const mount = live.mounts.find((one) => isOfService(one) && posix.resolve(appFolder, one.path) === path)
      return store.db.write((tx) => {
        requireRedeployable(tx, deps, project)
        const rows = listProjectVolumes(tx, project.id)
        const row = rows.find((one) => one.service === service && one.path === path)
        if (row?.removed_at === null) return { volume: row.name, path, deployment_id: null }
        if (mount && !row) throw new Problem('volume_in_use', `The volume “${mount.volume}” is at ${path} already.`)
        if (rows.filter(({ removed_at }) => removed_at === null).length >= limits.project_volumes)
          throw new Problem('invalid_input', `A project has at most ${limits.project_volumes} added volumes. Keep a folder further up instead.`)
        const name = row?.name ?? chooseName(path, [...rows.map((one) => one.name), ...live.mounts.map(({ volume }) => volume)])
        if (row) updateProjectVolume(tx, project.id, name, null)
        else insertProjectVolume(tx, createRow({ project_id: project.id, name, service, path, created_at: isoTime(clock.now()) }))
        tx.publish({ type: 'project_changed', id: project.id })
        return { volume: name, path, deployment_id: redeployInTransaction(tx, deps, project.id) ?? null }
      })
    },

    async detachVolume({ project }, { params: { name } }) {
      return store.db.write((tx) => {
        requireRedeployable(tx, deps, project)
        if (listProjectVolumes(tx, project.id).find((row) => row.name === name)?.removed_at !== null)
          throw new Problem('volume_not_found', `No volume “${name}” was added to this project. List them with homeport volumes ${project.slug}.`)
        updateProjectVolume(tx, project.id, name, isoTime(clock.now()))
        tx.publish({ type: 'project_changed', id: project.id })
        return { deployment_id: redeployInTransaction(tx, deps, project.id) ?? null }
      })
    },
  }
}

const appFolder = '/app'

/** Folders of the system, and of Homeport itself. A volume there would hide what the container needs. */
const reserved = ['bin', 'boot', 'dev', 'etc', 'homeport', 'lib', 'lib64', 'proc', 'run', 'sbin', 'sys', 'usr']

function resolveMountPath(text: string): string {
  const path = posix.resolve(appFolder, text)
  const [first = '', ...below] = path.slice(1).split('/')
  if (first === '' || path === appFolder || reserved.includes(first) || (text.split('/').includes('..') && !path.startsWith(`${appFolder}/`)))
    throw new Problem(
      'invalid_input',
      'Write the path of a folder for data, such as uploads or /app/uploads. The app’s own folder cannot be a volume.',
    )
  if (first === 'app' && below.includes('node_modules'))
    throw new Problem('invalid_input', 'The folder node_modules belongs to each version, so that it cannot be a volume.')
  return path
}

const isDatabaseFile = (path: string): boolean => /\.(?:db|db3|sqlite|sqlite3)$/i.test(path)

const createRow = (fields: Pick<ProjectVolumeRow, 'project_id' | 'name' | 'service' | 'path' | 'created_at'>): ProjectVolumeRow => ({
  ...fields,
  is_file: isDatabaseFile(fields.path) ? 1 : 0,
  removed_at: null,
})

/** The last segment of the path, as a name that no volume of the project has. */
function chooseName(path: string, taken: readonly string[]): string {
  const base =
    posix
      .basename(path)
      .replace(/[^A-Za-z0-9_.-]+/g, '-')
      .replace(/^[^A-Za-z0-9]+/, '')
      .slice(0, 50) || 'files'
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base}-${number}`
    if (!taken.includes(name)) return name
  }
}
