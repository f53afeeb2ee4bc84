import { objectSchema, type Tool } from './tool.ts'

const slug = { type: 'string', description: 'The slug of the project.' }
const environment = { type: 'string', enum: ['production', 'preview'], description: 'Default: production and previews.' }

export const setVariableTool: Tool = {
  name: 'set_variable',
  operation: 'createEnvVars',
  description:
    'Add a variable or change its value. A new one redeploys a deployed project (`deployment_id`); a changed one applies to the next deployment.',
  input: objectSchema(
    {
      slug,
      key: { type: 'string' },
      value: { type: 'string' },
      environment,
      is_sensitive: { type: 'boolean', description: 'Hide it in the dashboard.' },
    },
    ['slug', 'key', 'value'],
  ),
  async run(client, { slug: project, key, value, environment: name = null, is_sensitive }) {
    const params = { slug: String(project) }
    const { env_vars } = await client.call('listEnvVarKeys', { params })
    const existing = env_vars.find((one) => one.key === key && one.environment === name)
    const sent = { value: value as string, ...(is_sensitive === undefined ? {} : { is_sensitive: is_sensitive as boolean }) }
    if (!existing) return client.call('createEnvVars', { params, body: { ...sent, key: key as string, environment: name as 'production' | null } })
    await client.call('updateEnvVar', { params: { ...params, id: existing.id }, body: sent })
    return { updated: existing.id, deployment_id: null, note: 'Deploy the project to apply the new value.' }
  },
}
