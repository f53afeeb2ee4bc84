import { Problem } from '../contract/errors.ts'
import type { ResourceKind } from '../contract/operation.ts'
import { findDatabaseDump } from '../store/database-dumps.ts'
import { findEnvVar } from '../store/env-vars.ts'
import type { Db, Tx } from '../store/store.ts'
import { dumpNotFound, requireDeployment, requireDomain, requireProject } from './access.ts'
import type { Caller, Resources } from './context.ts'

export interface ResolvedResource {
  /** ID of the domain, or of the project to which the resource belongs. */
  id: string
  /** For the context of the handler. */
  context: Resources[ResourceKind]
}

/** Finds the resource that the parameters of a path name. Throws a 404 if it does not exist, or if the caller may not see it. */
export type ResolveResource = (caller: Caller, kind: ResourceKind, params: Record<string, string>) => Promise<ResolvedResource>

export function createResourceResolver(db: Db): ResolveResource {
  return (caller, kind, { slug = '', id = '' }) =>
    db.read((tx) => {
      if (kind === 'domain') {
        const domain = requireDomain(tx, caller, id)
        return { id: domain.id, context: { domain } }
      }
      const project = requireProject(tx, caller, slug)
      return { id: project.id, context: { project, ...findInProject[kind](tx, project.id, id) } }
    })
}

type ProjectResources = Omit<Resources, 'domain'>

/** What else the context has, next to the project. A resource of another project is a 404. */
const findInProject: { [Kind in keyof ProjectResources]: (tx: Tx, projectId: string, id: string) => Omit<ProjectResources[Kind], 'project'> } = {
  project: () => ({}),
  deployment(tx, projectId, id) {
    return { deployment: requireDeployment(tx, projectId, id) }
  },
  env_var(tx, projectId, id) {
    const env_var = findEnvVar(tx, projectId, id)
    if (!env_var) throw new Problem('env_var_not_found', 'This project has no variable with this ID.')
    return { env_var }
  },
  database_dump(tx, projectId, id) {
    const dump = findDatabaseDump(tx, id)
    if (dump?.project_id !== projectId) throw dumpNotFound()
    return { dump }
  },
}
