import type { EnvVarChanges } from '../../api/env-vars.ts'
import type { EnvVarChange, NewProjectEnvVar, ProjectEnvVar } from '../../../server/contract/env-vars.ts'
import type { Environment } from '../../lib/environments.ts'

/** Changes that are not saved yet. */
export type ChangeSet = EnvVarChanges

export const noChanges: ChangeSet = { create: [], update: {}, delete: [] }

/** A variable as it will be after saving; a deleted one stays visible until then. */
export interface StagedVariable extends ProjectEnvVar {
  change: 'added' | 'changed' | 'deleted' | null
}

export function countChanges(changes: ChangeSet): number {
  return changes.create.length + Object.keys(changes.update).length + changes.delete.length
}

export function affectsProduction(changes: ChangeSet, variables: readonly ProjectEnvVar[]): boolean {
  const touched = new Set([...Object.keys(changes.update), ...changes.delete])
  return [...changes.create, ...variables.filter(({ id }) => touched.has(id))].some(({ environment }) => (environment ?? null) !== 'preview')
}

/** The list of the platform with the changes, in the same order: by key. */
export function stageVariables(variables: readonly ProjectEnvVar[], changes: ChangeSet): StagedVariable[] {
  const deleted = new Set(changes.delete)
  const staged = variables.map((variable): StagedVariable => {
    const change = changes.update[variable.id]
    if (deleted.has(variable.id)) return { ...variable, change: 'deleted' }
    return change ? { ...variable, ...change, change: 'changed' } : { ...variable, change: null }
  })
  // An addition that is saved already, before the changes are cleared, is in the list of the platform.
  const existing = new Set(variables.filter(({ id }) => !deleted.has(id)).map((one) => slotOf(one)))
  const added = changes.create.filter((one) => !existing.has(slotOf(one))).map(toStagedVariable)
  return [...staged, ...added].toSorted((a, b) => (a.key === b.key ? 0 : a.key < b.key ? -1 : 1))
}

/** Adds variables; one that is staged already takes the new value. */
export function stageAdditions(changes: ChangeSet, added: readonly NewProjectEnvVar[]): ChangeSet {
  const slots = new Set(added.map(slotOf))
  return { ...changes, create: [...changes.create.filter((one) => !slots.has(slotOf(one))), ...added] }
}

export function stageEdit(changes: ChangeSet, { id }: { id: string }, change: EnvVarChange): ChangeSet {
  const index = changes.create.findIndex((one) => stagedId(one) === id)
  const created = changes.create[index]
  if (created) return { ...changes, create: changes.create.with(index, { ...created, ...change }) }
  return { ...changes, update: { ...changes.update, [id]: { ...changes.update[id], ...change } } }
}

/** Deletes variables; one that is only staged disappears. */
export function stageDeletions(changes: ChangeSet, ids: readonly string[]): ChangeSet {
  const removed = new Set(ids)
  const create = changes.create.filter((one) => !removed.has(stagedId(one)))
  const stagedIds = new Set(changes.create.map(stagedId))
  return {
    create,
    update: Object.fromEntries(Object.entries(changes.update).filter(([id]) => !removed.has(id))),
    delete: [...new Set([...changes.delete, ...ids.filter((id) => !stagedIds.has(id))])],
  }
}

/** Takes back the change of one variable. */
export function unstage(changes: ChangeSet, id: string): ChangeSet {
  return {
    create: changes.create.filter((one) => stagedId(one) !== id),
    update: Object.fromEntries(Object.entries(changes.update).filter(([one]) => one !== id)),
    delete: changes.delete.filter((one) => one !== id),
  }
}

/** Names of secrets, whose values stay hidden unless they are revealed one by one. */
export function isSecretName(key: string): boolean {
  return /KEY|SECRET|TOKEN|PASSWORD/i.test(key)
}

type Slot = { key: string; environment?: Environment | undefined }
const slotOf = ({ key, environment }: Slot): string => `${environment ?? 'both'}/${key}`
const stagedId = (one: Slot): string => `new/${slotOf(one)}`

function toStagedVariable(added: NewProjectEnvVar): StagedVariable {
  const { key, value, environment = null, is_sensitive = false, is_write_only = false, is_build_secret = false } = added
  return {
    id: stagedId(added),
    key,
    value,
    environment,
    is_sensitive,
    is_write_only,
    is_build_secret,
    created_at: '',
    updated_at: '',
    change: 'added',
  }
}
