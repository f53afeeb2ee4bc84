import type { DeployHook, deployHookOperations, DeployHookResult } from '../contract/deploy-hooks.ts'
import { Problem } from '../contract/errors.ts'
import { limits } from '../contract/limits.ts'
import { linkedRepository } from '../deployments/service.ts'
import { isoTime } from '../lib/clock.ts'
import { newId } from '../lib/id.ts'
import { parsePullRequestLabel } from '../lib/pull-request.ts'
import { hashSecret, newToken } from '../lib/token.ts'
import { recordProjectActivity } from '../store/activity.ts'
import { deleteDeployHook, findDeployHookByHash, insertDeployHook, listDeployHooks, recordDeployHookUse } from '../store/deploy-hooks.ts'
import { findDeploymentById, listOpenDeployments } from '../store/deployments.ts'
import type { DeployHookRow } from '../store/notification-tables.ts'
import { findProject } from '../store/projects.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import * as preconditions from './preconditions.ts'

export function createDeployHookHandlers({
  store: { db },
  clock,
  instance,
}: FeatureDeps): Pick<OperationHandlers, keyof typeof deployHookOperations> {
  return {
    async listDeployHooks({ project }) {
      return { deploy_hooks: (await db.read((tx) => listDeployHooks(tx, project.id))).map(present) }
    },

    async createDeployHook({ project }, { body: { name, branch = null } }) {
      preconditions.requireConnectedRepository(project.repo_url)
      // A pull request may be anyone's, and has rules of its own.
      if (parsePullRequestLabel(branch) !== undefined)
        throw new Problem('invalid_input', 'A deploy hook deploys a branch, not a pull request.', {
          issues: [{ path: 'branch', message: 'Enter the name of a branch.' }],
        })
      const token = newToken('hpd')
      const row = {
        id: newId('dhk'),
        project_id: project.id,
        name,
        branch,
        hash: hashSecret(token),
        last4: token.slice(-4),
        last_used_at: null,
        created_at: isoTime(clock.now()),
      }
      await db.write((tx) => {
        if (listDeployHooks(tx, project.id).length >= limits.notification_targets)
          throw new Problem('too_many_targets', `A project can have ${limits.notification_targets} deploy hooks. Delete one that is not needed.`)
        insertDeployHook(tx, row)
      })
      return { deploy_hook: present(row), token, url: `${instance().api_url}/hooks/deploy/${token}` }
    },

    async deleteDeployHook({ project }, { params: { id } }) {
      if ((await db.write((tx) => deleteDeployHook(tx, project.id, id))) === 0)
        throw new Problem('deploy_hook_not_found', 'This project has no deploy hook with this ID.')
      return { ok: true }
    },
  }
}

/** Deploys for a request with the token of a hook; undefined for a wrong token. A deployment that a hook queued already serves all calls until it starts. */
export function createDeployHookRunner({ store: { db }, clock, deployments }: Pick<FeatureDeps, 'store' | 'clock' | 'deployments'>) {
  return (token: string): Promise<DeployHookResult | undefined> =>
    db.write((tx) => {
      const hook = findDeployHookByHash(tx, hashSecret(token))
      const project = hook && findProject(tx, hook.project_id)
      if (!hook || !project) return undefined
      recordDeployHookUse(tx, hook.id, isoTime(clock.now()))
      const source = { ...linkedRepository(project), ...(hook.branch === null ? {} : { branch: hook.branch }) }
      const target = source.branch === project.repo_branch ? 'production' : 'preview'
      const queued = listOpenDeployments(tx, project.id).find(
        (row) => row.status === 'queued' && row.trigger === 'hook' && row.target === target && row.branch === source.branch,
      )
      if (queued) return { deployment_id: queued.id, status: queued.status, is_new: false }
      const id = deployments.enqueueInTransaction(tx, { project_id: project.id, trigger: 'hook', source })
      recordProjectActivity(tx, isoTime(clock.now()), project, {
        action: 'deployment.created',
        actor_kind: 'push',
        actor_id: hook.id,
        actor_name: `The deploy hook ${hook.name}`,
        target_id: id,
        target_name: target === 'preview' ? source.branch : null,
        details: { branch: source.branch },
      })
      return { deployment_id: id, status: findDeploymentById(tx, id)?.status ?? 'queued', is_new: true }
    })
}

const present = ({ id, name, branch, last4, last_used_at, created_at }: Omit<DeployHookRow, 'seq'>): DeployHook => ({
  id,
  name,
  branch,
  last4,
  last_used_at,
  created_at,
})
