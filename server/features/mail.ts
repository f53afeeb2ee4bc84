import { Problem } from '../contract/errors.ts'
import type { mailOperations } from '../contract/mail.ts'
import type { OperationHandlers } from './context.ts'
import type { FeatureDeps } from './deps.ts'
import { redeployInTransaction, requireRedeployable } from './redeploy.ts'

export function createMailHandlers(deps: FeatureDeps): Pick<OperationHandlers, keyof typeof mailOperations> {
  const { mailCatcher } = deps
  return {
    getMail: async ({ project }) => ({ catcher: await mailCatcher.status(project.id), messages: await mailCatcher.list(project.id) }),

    async updateMail({ project }, { body }) {
      const deployment = await mailCatcher.setEnabled(project.id, body.is_enabled, (tx, isChanged) => {
        if (!isChanged) return undefined
        requireRedeployable(tx, deps, project)
        return redeployInTransaction(tx, deps, project.id)
      })
      return { catcher: await mailCatcher.status(project.id), deployment_id: deployment ?? null }
    },

    getMailMessage: async ({ project }, { params }) => ({ message: requireMessage(await mailCatcher.show(project.id, params.message)) }),

    downloadMailMessage: async ({ project }, { params }) => requireMessage(await mailCatcher.source(project.id, params.message)),

    async downloadMailAttachment({ project }, { params }) {
      const content = requireMessage(await mailCatcher.attachment(project.id, params.message, Number(params.index)))
      return streamOnce(content)
    },

    async deleteMailMessage({ project }, { params }) {
      if (!(await mailCatcher.remove(project.id, params.message))) throw messageNotFound()
    },

    deleteMailMessages: ({ project }) => mailCatcher.removeAll(project.id),
  }
}

async function* streamOnce(content: Uint8Array): AsyncGenerator<Uint8Array> {
  yield content
}

function requireMessage<T>(found: T | undefined): T {
  if (found === undefined) throw messageNotFound()
  return found
}

const messageNotFound = () =>
  new Problem('message_not_found', 'This project has no such message or attachment. Messages beyond the last 500 are deleted.')
