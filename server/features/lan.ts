import type { Handlers } from '../contract/index.ts'
import type { Db } from '../store/open.ts'
import { findOwner, writeSetting } from '../store/people.ts'
import { ownerHasPassword } from '../store/passwords.ts'
import type { Context } from './context.ts'
import type { FeatureDeps } from './deps.ts'

export function createLanHandlers(deps: FeatureDeps): Pick<Handlers<Context>, 'getLan'> {
  return {
    async getLan() {
      const { owner, has_owner_password } = await deps.store.db.read((tx) => ({ owner: findOwner(tx), has_owner_password: ownerHasPassword(tx) }))
      return { lan: { ...deps.lan.status(), has_owner_password, sign_in_email: owner?.email ?? '', encrypted: false } }
    },
  }
}

/** Projects that answer now or at the next request, the most recently used first. */
export function liveProjects(db: Db): Promise<{ id: string; slug: string; name: string; host: string }[]> {
  return db.read((tx) =>
    tx
      .sqlAll<{ id: string; slug: string; name: string }>(
        `SELECT id, slug, name FROM projects WHERE deleted_at IS NULL AND status = 'live' ORDER BY last_request_at DESC NULLS LAST, seq DESC LIMIT 100`,
      )
      .map((project) => ({ ...project, host: `${project.slug}.localhost` })),
  )
}

/** The port on the network that each project was given. */
export const lanPorts = (db: Db) => ({
  read: () =>
    db.read((tx): Record<string, number> => {
      const stored = tx.sqlFirst<{ value: string }>("SELECT value FROM settings WHERE key = 'lan_ports'")
      return stored === undefined ? {} : (JSON.parse(stored.value) as Record<string, number>)
    }),
  write: (ports: Record<string, number>) => db.write((tx) => writeSetting(tx, 'lan_ports', ports)),
})
