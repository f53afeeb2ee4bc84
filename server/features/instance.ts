import { Problem } from '../contract/errors.ts'
import { findDeploymentById } from '../store/deployments.ts'
import { findAccount, findUser, deleteSession } from '../store/users.ts'
import { hasOwnerPassword } from '../store/passwords.ts'
import { findProject, findProjectBySlug, updateProject } from '../store/projects.ts'
import { canAccessProject, projectNotFound } from './access.ts'
import { rejectEmulatedSettings } from './billing.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { streamInstanceEvents } from './instance-events.ts'
import { ownerPasswordRequired } from './owner-password.ts'
import { createSignInCode } from './authenticator.ts'
import { presentAccount, presentDeployment, presentProject, presentUser } from './presenters.ts'
import { insertNewProject } from './projects.ts'
import { slugify } from '../lib/slug.ts'

type InstanceHandlers = Pick<
  OperationHandlers,
  'getSession' | 'followInstance' | 'deployFolder' | 'doctor' | 'getSettings' | 'updateSettings' | 'createSignInLink' | 'signOut'
>

const signInLinkLifetime_ms = 10 * 60_000

export function createInstanceHandlers(deps: FeatureDeps): InstanceHandlers {
  const { db } = deps.store
  return {
    async getSession({ caller }) {
      const { user, account } = await db.read((tx) => ({ user: findUser(tx, caller.user_id), account: findAccount(tx, caller.account_id) }))
      if (!user || !account) throw new Problem('unauthorized', 'This user was removed. Sign in with another account.')
      const token = caller.via === 'token' ? { scope: caller.scope, project_id: caller.project_id } : null
      return { user: presentUser(user), account: presentAccount(account), token, instance: deps.instance() }
    },

    async followInstance({ caller, signal }) {
      return streamInstanceEvents(deps, caller, signal)
    },

    async deployFolder({ caller }, { body }) {
      if (!(await deps.isFolder(body.path)))
        throw new Problem('invalid_input', 'The folder does not exist.', {
          issues: [{ path: 'path', message: 'Use the absolute path of a folder on the machine of the instance.' }],
        })
      const base = body.path.split(/[\\/]/).filter(Boolean).at(-1) ?? 'app'
      const folder = await deps.describeFolder(body.path)
      const project = await db.write((tx) => {
        const slug = body.slug ?? slugify(base)
        const found = findProjectBySlug(tx, slug)
        if (found && canAccessProject(tx, caller, found)) return found
        if (caller.project_id !== null) throw projectNotFound()
        const created = insertNewProject(deps, tx, caller, {
          name: body.name ?? base,
          slug,
          // The repository is linked, so that a later deployment from the dashboard builds its latest commit.
          ...(folder.is_git ? { repo_url: toFileUrl(body.path), repo_branch: folder.branch ?? 'main' } : {}),
        })
        if (body.root_directory !== undefined) updateProject(tx, created.id, { root_directory: body.root_directory })
        return created
      })
      const { deployment_id } = await deps.deployments.enqueue({
        project_id: project.id,
        trigger: 'manual',
        source: { kind: 'folder', path: body.path },
        no_cache: body.no_cache === true,
      })
      return db.read((tx) => {
        const row = findDeploymentById(tx, deployment_id)
        const updated = findProject(tx, project.id)
        if (!row || !updated) throw new Problem('project_not_found', 'The project was deleted in the meantime.')
        return { project: presentProject(updated), deployment: presentDeployment(tx, row) }
      })
    },

    async doctor(_context, { query }) {
      return { checks: await deps.doctor(query.quick === 'true') }
    },

    async getSettings() {
      return { settings: deps.settings.current() }
    },

    async updateSettings(_context, { body }) {
      if (body.lan === true && !(await db.read(hasOwnerPassword))) throw ownerPasswordRequired()
      rejectEmulatedSettings(deps.billing, body, deps.settings.current())
      const settings = await deps.settings.change(body)
      deps.applyEdgeSettings()
      if (body.plan !== undefined || body.trial_days !== undefined) await deps.billing.applyExpirations()
      // The hourly job retries what fails now.
      if (body.keep_deployments !== undefined) void deps.deployments.prune().catch(() => {})
      if (body.lan !== undefined) await deps.lan.refresh()
      if (body.hosts_file !== undefined) await deps.localHttps.applyHostsFileSetting()
      if (body.dns_server !== undefined) await deps.domainSales.applyDnsServerSetting()
      return { settings }
    },

    async createSignInLink({ caller }) {
      const { code, expires_at } = await createSignInCode({ db, clock: deps.clock }, caller.user_id, signInLinkLifetime_ms)
      return { url: `${deps.instance().api_url}/sign-in?code=${code}`, expires_at }
    },

    async signOut({ caller }) {
      if (caller.via === 'session') await db.write((tx) => deleteSession(tx, caller.credential_id))
      return { ok: true }
    },
  }
}

function toFileUrl(path: string): string {
  const url = new URL('file:///')
  url.pathname = path.replaceAll('\\', '/').replaceAll('%', '%25')
  return url.href
}
