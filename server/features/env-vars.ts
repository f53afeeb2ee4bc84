import type { NewEnvVar } from '../contract/env-vars.ts'
import { Problem } from '../contract/errors.ts'
import type { Handlers } from '../contract/index.ts'
import { isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { deleteEnvVar, findEnvVar, insertEnvVar, listEnvVars, updateEnvVar } from '../store/env-vars.ts'
import type { Tx } from '../store/open.ts'
import type { EnvVarRow } from '../store/tables.ts'
import { projectFor } from './access.ts'
import type { Caller, Context } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { redeployWithin } from './redeploy.ts'

type EnvVarHandlers = Pick<Handlers<Context>, 'listEnvVars' | 'createEnvVars' | 'updateEnvVar' | 'deleteEnvVar'>

export function createEnvVarHandlers(deps: FeatureDeps): EnvVarHandlers {
  const { db } = deps.store
  const placeOf = (id: string) => ({ table: 'env_vars', column: 'sealed_value', row: id })
  const now = () => isoTime(deps.clock.now())

  const insert = (tx: Tx, projectId: string, wish: NewEnvVar): { row: EnvVarRow; is_new: boolean } => {
    const id = newId('env')
    const at = now()
    const row: EnvVarRow = {
      id,
      project_id: projectId,
      key: wish.key,
      sealed_value: deps.sealer.seal(placeOf(id), wish.value),
      environment: wish.environment ?? null,
      is_sensitive: wish.is_sensitive === true ? 1 : 0,
      created_at: at,
      updated_at: at,
    }
    return { row, is_new: insertEnvVar(tx, row) }
  }

  return {
    async listEnvVars({ caller }, { params }) {
      const rows = await db.read((tx) => listEnvVars(tx, projectFor(tx, caller, params.slug).id))
      return {
        env_vars: rows.map(({ id, key, sealed_value, environment, is_sensitive, created_at, updated_at }) => ({
          id,
          key,
          value: deps.sealer.unseal(placeOf(id), sealed_value),
          environment,
          is_sensitive: is_sensitive === 1,
          created_at,
          updated_at,
        })),
      }
    },

    async createEnvVars({ caller, keepAnswer }, { params, body }) {
      const wishes = 'vars' in body ? body.vars : [body]
      const { project_id, answer, redeployed } = await db.write((tx) => {
        const project = projectFor(tx, caller, params.slug)
        const asked = new Set<string>()
        const made: { id: string; key: string; environment: EnvVarRow['environment'] }[] = []
        const left: { key: string; environment: EnvVarRow['environment']; reason: 'exists' | 'duplicate_in_request' }[] = []
        for (const wish of wishes) {
          const { key } = wish
          const environment = wish.environment ?? null
          const name = `${key}\0${environment ?? ''}`
          if (asked.has(name)) left.push({ key, environment, reason: 'duplicate_in_request' })
          else {
            const { row, is_new } = insert(tx, project.id, wish)
            if (is_new) made.push({ id: row.id, key, environment })
            else left.push({ key, environment, reason: 'exists' })
          }
          asked.add(name)
        }
        if (made.length === 0)
          throw new Problem('env_vars_exist', 'All of these are there already. Change a value with PATCH, or delete the variable first.', {
            fields: { created: made, skipped: left },
          })
        const enqueued = made.some((one) => one.environment !== 'preview') ? redeployWithin(tx, deps, project.id) : undefined
        const all = { created: made, skipped: left, deployment_id: enqueued?.deployment_id ?? null }
        keepAnswer?.(tx, all)
        return { project_id: project.id, answer: all, redeployed: enqueued }
      })
      redeployed?.begin()
      deps.bus.emit(`project:${project_id}`)
      return answer
    },

    async updateEnvVar({ caller }, { params, body }) {
      const row = await db.write((tx) => {
        const found = envVarFor(tx, caller, params)
        updateEnvVar(tx, found.id, {
          sealed_value: deps.sealer.seal(placeOf(found.id), body.value),
          ...(body.is_sensitive === undefined ? {} : { is_sensitive: body.is_sensitive ? 1 : 0 }),
          updated_at: now(),
        })
        return found
      })
      deps.bus.emit(`project:${row.project_id}`)
      return { id: row.id }
    },

    async deleteEnvVar({ caller }, { params }) {
      const { project_id, redeployed } = await db.write((tx) => {
        const { id, project_id, environment } = envVarFor(tx, caller, params)
        deleteEnvVar(tx, id)
        return { project_id, redeployed: environment === 'preview' ? undefined : redeployWithin(tx, deps, project_id) }
      })
      redeployed?.begin()
      deps.bus.emit(`project:${project_id}`)
    },
  }
}

/** A variable of a project that the caller may see; else the same 404 as for one that is not there. */
export function envVarFor(tx: Tx, caller: Caller, params: { slug: string; id: string }): EnvVarRow {
  const row = findEnvVar(tx, projectFor(tx, caller, params.slug).id, params.id)
  if (!row) throw new Problem('env_var_not_found', 'There is no such variable in this project.')
  return row
}
