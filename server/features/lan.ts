import type { Settings } from '../contract/instance.ts'
import type { Db } from '../store/store.ts'
import { listLiveProjects } from '../store/projects.ts'
import { readSetting, writeSetting } from '../store/settings.ts'
import { findInstanceOwner } from '../store/users.ts'
import { hasOwnerPassword } from '../store/passwords.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'

export function createLanHandlers(deps: FeatureDeps): Pick<OperationHandlers, 'getLan'> {
  return {
    async getLan() {
      const { owner, has_owner_password } = await deps.store.db.read((tx) => ({
        owner: findInstanceOwner(tx),
        has_owner_password: hasOwnerPassword(tx),
      }))
      return { lan: { ...deps.lan.status(), has_owner_password, sign_in_email: owner?.email ?? '', encrypted: false } }
    },
  }
}

/** The inputs of local network access: the setting, which needs a password, the live projects, and the port of each. */
export const createLanDataSource = (db: Db, settings: () => Settings) => ({
  isEnabled: async () => settings().lan && (await db.read(hasOwnerPassword)),

  /** Live projects, including sleeping ones, most recently used first. */
  projects: () => db.read((tx) => listLiveProjects(tx, 100).map((project) => ({ ...project, host: `${project.slug}.localhost` }))),

  ports: {
    read: () => db.read((tx) => readSetting<Record<string, number>>(tx, 'lan_ports') ?? {}),
    write: (ports: Record<string, number>) => db.write((tx) => writeSetting(tx, 'lan_ports', ports)),
  },
})
