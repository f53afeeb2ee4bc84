import { Problem } from '../contract/errors.ts'
import type { Registry, registryOperations } from '../contract/registries.ts'
import { isoTime } from '../lib/clock.ts'
import { normalizeRegistryHost } from '../lib/image-name.ts'
import { deleteRegistry, listRegistries, saveRegistry } from '../store/registries.ts'
import type { RegistryRow } from '../store/managed-tables.ts'
import { findInstanceOwner } from '../store/users.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'

export function createRegistryHandlers({
  store: { db },
  sealer,
  clock,
  listDockerLogins,
}: FeatureDeps): Pick<OperationHandlers, keyof typeof registryOperations> {
  return {
    async listRegistries({ project }) {
      const { rows, owner } = await db.read((tx) => ({ rows: listRegistries(tx, project.id), owner: findInstanceOwner(tx) }))
      const isOwners = project.account_id === owner?.account_id
      return { registries: rows.map(present), docker_login: isOwners ? await listDockerLogins() : null }
    },

    async addRegistry({ project }, { body: { host: text, username, password } }) {
      const host = normalizeRegistryHost(text)
      if (host === undefined)
        throw new Problem('invalid_input', 'Write a registry as its hostname, such as ghcr.io or registry.example.com:5000.', {
          issues: [{ path: 'host', message: 'Write a hostname, such as ghcr.io.' }],
        })
      const row = {
        project_id: project.id,
        host,
        username,
        sealed_password: sealer.seal({ table: 'registries', column: 'sealed_password', row: `${project.id} ${host}` }, password),
        created_at: isoTime(clock.now()),
      }
      await db.write((tx) => {
        saveRegistry(tx, row)
        tx.publish({ type: 'project_changed', id: project.id })
      })
      return { registry: present(row) }
    },

    async removeRegistry({ project }, { params: { host: text } }) {
      const host = normalizeRegistryHost(text) ?? ''
      await db.write((tx) => {
        if (deleteRegistry(tx, project.id, host) === 0)
          throw new Problem('registry_not_found', `This project has no credentials for ${host || 'this registry'}.`)
        tx.publish({ type: 'project_changed', id: project.id })
      })
      return { ok: true }
    },
  }
}

const present = ({ host, username, created_at }: RegistryRow): Registry => ({ host, username, created_at })
