/** Handlers of the variables, for the double: they answer in the contract's shapes. */
import type { Handlers } from '../../server/contract/index.ts'
import type { Context } from '../../server/features/context.ts'
import { newId } from '../../server/lib/id.ts'

type EnvVarHandlers = Pick<Handlers<Context>, 'listEnvVars' | 'createEnvVars' | 'updateEnvVar' | 'deleteEnvVar'>

const now = '2026-01-31T12:00:00.000Z'

/** `visible` throws the 404 of a project that the caller may not see. */
export function createEnvVarHandlers(visible: (context: Context, slug: string) => unknown): EnvVarHandlers {
  return {
    async listEnvVars(context, { params }) {
      visible(context, params.slug)
      const one = { id: newId('env'), key: 'A', value: 'b', environment: null, is_sensitive: false, created_at: now, updated_at: now }
      return { env_vars: [one] }
    },
    async createEnvVars(context, { params, body }) {
      visible(context, params.slug)
      const vars = 'vars' in body ? body.vars : [body]
      return {
        created: vars.map(({ key, environment }) => ({ id: newId('env'), key, environment: environment ?? null })),
        skipped: [],
        deployment_id: null,
      }
    },
    async updateEnvVar(context, { params }) {
      visible(context, params.slug)
      return { id: params.id }
    },
    async deleteEnvVar(context, { params }) {
      visible(context, params.slug)
    },
  }
}
