import type { EnvVar, EnvVarChange, NewProjectEnvVar, ProjectEnvVar } from '../contract/env-vars.ts'
import { Problem } from '../contract/errors.ts'
import { isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { deleteEnvVar, findEnvVar, insertEnvVar, listEnvVars, updateEnvVar } from '../store/env-vars.ts'
import type { Tx } from '../store/store.ts'
import type { EnvVarRow } from '../store/env-var-tables.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { redeployInTransaction } from './redeploy.ts'

type EnvVarHandlers = Pick<
  OperationHandlers,
  | 'listEnvVars'
  | 'listEnvVarKeys'
  | 'createEnvVars'
  | 'updateEnvVar'
  | 'deleteEnvVar'
  | 'listProjectEnvVars'
  | 'createProjectEnvVars'
  | 'updateProjectEnvVar'
  | 'changeProjectEnvVars'
>

export function createEnvVarHandlers(deps: FeatureDeps): EnvVarHandlers {
  const { db } = deps.store
  const encryptionContextOf = (id: string) => ({ table: 'env_vars', column: 'sealed_value', row: id })
  const now = () => isoTime(deps.clock.now())

  const insert = (tx: Tx, projectId: string, newEnvVar: NewProjectEnvVar): { row: EnvVarRow; is_new: boolean } => {
    const id = newId('env')
    const timestamp = now()
    const row: EnvVarRow = {
      id,
      project_id: projectId,
      key: newEnvVar.key,
      sealed_value: deps.sealer.seal(encryptionContextOf(id), newEnvVar.value),
      environment: newEnvVar.environment ?? null,
      is_sensitive: newEnvVar.is_sensitive === true ? 1 : 0,
      is_write_only: newEnvVar.is_write_only === true ? 1 : 0,
      is_build_secret: newEnvVar.is_build_secret === true ? 1 : 0,
      created_at: timestamp,
      updated_at: timestamp,
    }
    return { row, is_new: insertEnvVar(tx, row) }
  }

  const update = (tx: Tx, projectId: string, id: string, { value, is_sensitive, is_write_only, is_build_secret }: EnvVarChange): void => {
    // The list has an empty value for a write-only variable, which a client may send back.
    const keepsValue = value === undefined || (value === '' && findEnvVar(tx, projectId, id)?.is_write_only === 1)
    updateEnvVar(tx, id, {
      ...(keepsValue ? {} : { sealed_value: deps.sealer.seal(encryptionContextOf(id), value) }),
      ...(is_sensitive === undefined ? {} : { is_sensitive: is_sensitive ? 1 : 0 }),
      ...(is_write_only === true ? { is_write_only: 1 } : {}),
      ...(is_build_secret === undefined ? {} : { is_build_secret: is_build_secret ? 1 : 0 }),
      updated_at: now(),
    })
  }

  /** The only place that reads a value for a response. */
  const present = (row: EnvVarRow): ProjectEnvVar => ({
    ...presentKey(row),
    value: row.is_write_only === 1 ? '' : deps.sealer.unseal(encryptionContextOf(row.id), row.sealed_value),
  })

  const handlers: EnvVarHandlers = {
    async listEnvVars({ project }) {
      const rows = await db.read((tx) => listEnvVars(tx, project.id))
      return { env_vars: rows.map((row) => withoutInstanceFields(present(row))) }
    },

    async listProjectEnvVars({ project }) {
      const rows = await db.read((tx) => listEnvVars(tx, project.id))
      return { env_vars: rows.map(present) }
    },

    async listEnvVarKeys({ project }) {
      const rows = await db.read((tx) => listEnvVars(tx, project.id))
      return { env_vars: rows.map(presentKey) }
    },

    createEnvVars: (context, input) => handlers.createProjectEnvVars(context, input),

    async createProjectEnvVars({ project, saveResponse }, { body }) {
      const newEnvVars = 'vars' in body ? body.vars : [body]
      return db.write((tx) => {
        const seenKeys = new Set<string>()
        const created: { id: string; key: string; environment: EnvVarRow['environment'] }[] = []
        const skipped: { key: string; environment: EnvVarRow['environment']; reason: 'exists' | 'duplicate_in_request' }[] = []
        for (const newEnvVar of newEnvVars) {
          const { key } = newEnvVar
          const environment = newEnvVar.environment ?? null
          const name = `${key}\0${environment ?? ''}`
          if (seenKeys.has(name)) skipped.push({ key, environment, reason: 'duplicate_in_request' })
          else {
            const { row, is_new } = insert(tx, project.id, newEnvVar)
            if (is_new) created.push({ id: row.id, key, environment })
            else skipped.push({ key, environment, reason: 'exists' })
          }
          seenKeys.add(name)
        }
        if (created.length === 0)
          throw new Problem('env_vars_exist', 'All of these variables already exist. Change a value with PATCH, or delete the variable first.', {
            fields: { created, skipped },
          })
        const enqueued = created.some((one) => one.environment !== 'preview') ? redeployInTransaction(tx, deps, project.id) : undefined
        const response = { created, skipped, deployment_id: enqueued ?? null }
        saveResponse?.(tx, response)
        tx.publish({ type: 'project_changed', id: project.id })
        return response
      })
    },

    updateEnvVar: (context, input) => handlers.updateProjectEnvVar(context, input),

    async updateProjectEnvVar({ env_var: { id, project_id } }, { body }) {
      await db.write((tx) => {
        update(tx, project_id, id, body)
        tx.publish({ type: 'project_changed', id: project_id })
      })
      return { id }
    },

    async changeProjectEnvVars({ project, saveResponse }, { body }) {
      const { create = [], update: updates = [], delete: deletions = [], redeploy = true } = body
      return db.write((tx) => {
        const existing = (id: string): EnvVarRow => {
          const row = findEnvVar(tx, project.id, id)
          if (!row) throw new Problem('env_var_not_found', 'This project has no variable with this ID.')
          return row
        }
        const changed: Pick<EnvVarRow, 'environment'>[] = []
        for (const id of deletions) {
          changed.push(existing(id))
          deleteEnvVar(tx, id)
        }
        for (const { id, ...change } of updates) {
          changed.push(existing(id))
          update(tx, project.id, id, change)
        }
        const created = create.map((one) => {
          const { row, is_new } = insert(tx, project.id, one)
          if (!is_new)
            throw new Problem('env_vars_exist', `${one.key} already exists in this environment. Change its value instead.`, {
              fields: { created: [], skipped: [{ key: one.key, environment: row.environment, reason: 'exists' }] },
            })
          changed.push(row)
          return { id: row.id, key: row.key, environment: row.environment }
        })
        const affectsProduction = changed.some(({ environment }) => environment !== 'preview')
        const response = { created, deployment_id: (redeploy && affectsProduction && redeployInTransaction(tx, deps, project.id)) || null }
        saveResponse?.(tx, response)
        tx.publish({ type: 'project_changed', id: project.id })
        return response
      })
    },

    async deleteEnvVar({ env_var: { id, project_id, environment } }) {
      await db.write((tx) => {
        deleteEnvVar(tx, id)
        tx.publish({ type: 'project_changed', id: project_id })
        if (environment !== 'preview') redeployInTransaction(tx, deps, project_id)
      })
    },
  }
  return handlers
}

const withoutInstanceFields = ({ is_write_only: _, is_build_secret: __, ...envVar }: ProjectEnvVar): EnvVar => envVar

const presentKey = ({
  id,
  key,
  environment,
  is_sensitive,
  is_write_only,
  is_build_secret,
  created_at,
  updated_at,
}: EnvVarRow): Omit<ProjectEnvVar, 'value'> => ({
  id,
  key,
  environment,
  is_sensitive: is_sensitive === 1 || is_write_only === 1,
  is_write_only: is_write_only === 1,
  is_build_secret: is_build_secret === 1,
  created_at,
  updated_at,
})
