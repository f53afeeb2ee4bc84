import type { RegistryAccess } from '../runtime/registries.ts'
import { listRegistries } from '../store/registries.ts'
import type { ProjectRow } from '../store/tables.ts'
import { findInstanceOwner } from '../store/users.ts'
import type { DeploymentContext } from './context.ts'

/** The registry credentials of a project. Only projects of the instance owner's account use the `docker login` of this machine. */
export async function readRegistryAccess(
  { store, sealer }: Pick<DeploymentContext, 'store' | 'sealer'>,
  project: ProjectRow,
): Promise<RegistryAccess> {
  const { rows, owner } = await store.db.read((tx) => ({ rows: listRegistries(tx, project.id), owner: findInstanceOwner(tx) }))
  return {
    logins: rows.map(({ host, username, sealed_password }) => ({
      host,
      username,
      password: sealer.unseal({ table: 'registries', column: 'sealed_password', row: `${project.id} ${host}` }, sealed_password),
      origin: 'project',
    })),
    uses_docker_login: project.account_id === owner?.account_id,
  }
}
