import { posix } from 'node:path'
import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'
import { howToRunImages } from '../contract/runtimes.ts'
import { appFolder, chooseVolumeName, isDatabasePath } from '../contract/volume-paths.ts'
import type { volumeOperations } from '../contract/volumes.ts'
import { isoTime } from '../lib/clock.ts'
import { insertProjectVolume, listProjectVolumes, listUnsavedFiles, updateProjectVolume } from '../store/project-volumes.ts'
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
        throw invalidPath(`The path ${path} is outside of the app’s folder ${appFolder}. ${howToRunImages}`)
      if (body.service !== undefined && !live.services.includes(body.service))
        throw new Problem('service_not_found', `The live version has no service “${body.service}”. List them with homeport services ${project.slug}.`)
      const service = body.service === live.main_service ? '' : (body.service ?? '')
      if (service === '' && live.is_static)
        throw invalidPath('This project is a static site. Homeport serves its files directly, so it has no volumes.')
      const isOfService = (one: { service: string }) => one.service === (service === '' ? live.main_service : service)
      const mount = live.mounts.find((one) => isOfService(one) && posix.resolve(appFolder, one.path) === path)
      if (body.snapshot_id !== undefined && !(await deployments.volumes.hasSavedFiles(project.id, service, path, body.snapshot_id)))
        throw new Problem('snapshot_not_found', `There is no snapshot with this ID of the files at ${path}.`)
      return store.db.write((tx) => {
        requireRedeployable(tx, deps, project)
        const rows = listProjectVolumes(tx, project.id)
        const row = rows.find((one) => one.service === service && one.path === path)
        if (row?.removed_at === null) return { volume: row.name, path, deployment_id: null }
        if (mount && !row) throw new Problem('volume_in_use', `The volume “${mount.volume}” is already at ${path}.`)
        if (rows.filter(({ removed_at }) => removed_at === null).length >= limits.project_volumes)
          throw invalidPath(`A project has at most ${limits.project_volumes} added volumes. Keep a folder further up instead.`)
        const reports = listUnsavedFiles(tx, project.id)
        const taken = [...rows, ...reports].map((one) => ('volume' in one ? one.volume : one.name)).concat(live.mounts.map(({ volume }) => volume))
        const add = (to: Pick<ProjectVolumeRow, 'service' | 'path' | 'begins_with'>): string => {
          const existing = rows.find((one) => one.service === to.service && one.path === to.path)
          if (existing) updateProjectVolume(tx, project.id, existing.name, null)
          if (existing) return existing.name
          const report = reports.find((one) => one.service === to.service && one.path === to.path)
          const name = report?.volume ?? chooseVolumeName(to.path, taken)
          const is_file = (report ? report.is_file === 1 : isDatabasePath(to.path)) ? 1 : 0
          insertProjectVolume(tx, { ...to, project_id: project.id, name, is_file, created_at: isoTime(clock.now()), removed_at: null })
          return name
        }
        const name = add({ service, path, begins_with: body.snapshot_id ?? null })
        if (body.with_unsaved_files === true)
          for (const report of reports)
            if (report.dismissed_at === null && !(report.service === service && report.path === path))
              add({ ...pickServiceAndPath(report), begins_with: null })
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

const pickServiceAndPath = ({ service, path }: { service: string; path: string }) => ({ service, path })

/** Folders of the system, and of Homeport itself. A volume there would hide files that the container needs. */
const reserved = ['bin', 'boot', 'dev', 'etc', 'homeport', 'lib', 'lib64', 'proc', 'run', 'sbin', 'sys']

const invalidPath = (message: string): Problem => new Problem('invalid_input', message, { issues: [{ path: 'path', message }] })

function resolveMountPath(text: string): string {
  const path = posix.resolve(appFolder, text)
  const [first = '', ...below] = path.slice(1).split('/')
  const isOfSystem = reserved.includes(first) || (first === 'usr' && below[0] !== 'src')
  if (first === '' || path === appFolder || isOfSystem || (text.split('/').includes('..') && !path.startsWith(`${appFolder}/`)))
    throw invalidPath('Write the path of a folder for data, such as uploads or /app/uploads. The app’s own folder cannot be a volume.')
  if (first === 'app' && below.includes('node_modules'))
    throw invalidPath('The folder node_modules is part of each version, so it cannot be a volume.')
  return path
}
