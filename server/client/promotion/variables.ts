import type { EnvVar } from '../../contract/env-vars.ts'
import type { CallOutput } from '../operation-types.ts'
import type { PromotionProject } from './client.ts'
import { isUnsupported } from './report.ts'

/** A variable with the fields that only an instance has. */
export type ListedVariable = EnvVar & { is_write_only: boolean; is_build_secret: boolean }

/** The response does not contain the value of a write-only variable. */
export async function listVariables({ client, slug }: PromotionProject, signal: AbortSignal): Promise<ListedVariable[]> {
  const input = { params: { slug }, signal }
  try {
    const { env_vars } = await client.call('listProjectEnvVars', input)
    return env_vars
  } catch (error) {
    if (!isUnsupported(error)) throw error
    return (await client.call('listEnvVars', input)).env_vars.map((one) => ({ ...one, is_write_only: false, is_build_secret: false }))
  }
}

/** A hosted account has no build secrets: they are variables there. */
export async function createVariables(
  { client, slug }: PromotionProject,
  vars: Pick<ListedVariable, 'key' | 'value' | 'environment' | 'is_sensitive' | 'is_build_secret'>[],
): Promise<CallOutput<'createEnvVars'>> {
  const params = { slug }
  const create = () => client.call('createEnvVars', { params, body: { vars: vars.map(({ is_build_secret: _, ...one }) => one) } })
  if (!vars.some(({ is_build_secret }) => is_build_secret)) return create()
  return client.call('createProjectEnvVars', { params, body: { vars } }).catch((error: unknown) => {
    if (isUnsupported(error)) return create()
    throw error
  })
}
