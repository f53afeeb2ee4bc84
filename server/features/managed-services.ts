import { Problem } from '../contract/errors.ts'
import type { ManagedService, managedServiceOperations } from '../contract/managed-services.ts'
import { howToRunImages, runtimes } from '../contract/runtimes.ts'
import { describeManaged, getPreset, presetNames, type PresetName } from '../contract/service-presets.ts'
import { isoTime } from '../lib/clock.ts'
import { addManagedService, listManagedServices, updateManagedService } from '../store/managed-services.ts'
import type { Tx } from '../store/store.ts'
import type { ManagedServiceRow } from '../store/managed-tables.ts'
import type { ProjectRow } from '../store/tables.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { redeployInTransaction, requireRedeployable } from './redeploy.ts'

export function createManagedServiceHandlers(deps: FeatureDeps): Pick<OperationHandlers, keyof typeof managedServiceOperations> {
  const { store, sealer, clock } = deps
  const { db } = store

  const find = (tx: Tx, projectId: string, name: PresetName) => listManagedServices(tx, projectId).find((row) => row.name === name)

  const finish = (tx: Tx, project: ProjectRow, name: PresetName) => {
    tx.publish({ type: 'project_changed', id: project.id })
    const deployment_id = redeployInTransaction(tx, deps, project.id) ?? null
    return { service: present(name, find(tx, project.id, name)), deployment_id }
  }

  const explainUnavailable = (): string | null => {
    const { name } = deps.instance().runtime
    return runtimes[name].runs_images ? null : `Managed services run in containers. ${howToRunImages}`
  }

  return {
    async listManagedServices({ project }) {
      const rows = await db.read((tx) => listManagedServices(tx, project.id))
      const services = presetNames.map((name) =>
        present(
          name,
          rows.find((row) => row.name === name),
        ),
      )
      return { services, unavailable: explainUnavailable() }
    },

    async addManagedService({ project }, { body: { name } }) {
      return db.write((tx) => {
        requireRedeployable(tx, deps, project)
        const unavailable = explainUnavailable()
        if (unavailable !== null) throw new Problem('runtime_unavailable', unavailable)
        const isNew = addManagedService(tx, sealer, { project_id: project.id, name, created_at: isoTime(clock.now()) })
        return isNew ? finish(tx, project, name) : { service: present(name, find(tx, project.id, name)), deployment_id: null }
      })
    },

    async removeManagedService({ project }, { params: { name } }) {
      return db.write((tx) => {
        requireRedeployable(tx, deps, project)
        if (find(tx, project.id, name)?.removed_at !== null)
          throw new Problem(
            'service_not_found',
            `This project has no managed service “${name}”. List them with homeport services ${project.slug} add.`,
          )
        updateManagedService(tx, project.id, name, isoTime(clock.now()))
        return finish(tx, project, name)
      })
    },
  }
}

function present(name: PresetName, row: ManagedServiceRow | undefined): ManagedService {
  const { label, summary, image } = getPreset(name)
  const is_added = row?.removed_at === null
  return {
    name,
    label,
    summary,
    image,
    variables: describeManaged(name).variables,
    is_added,
    has_data: row !== undefined && !is_added && row.removed_at !== row.created_at,
    added_at: is_added ? row.created_at : null,
  }
}
