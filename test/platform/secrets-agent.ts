type Fetch = (path: string, init: RequestInit) => Promise<Response>

const readTools = [
  'get_project',
  'get_metrics',
  'list_routes',
  'get_runtime_log',
  'list_variables',
  'list_previews',
  'list_domains',
  'list_services',
  'list_managed_services',
  'list_volumes',
  'list_database_dumps',
  'describe_database',
  'list_deployments',
  'list_traces',
  'list_requests',
  'list_log_lines',
]

/** Reads all that an agent can read of a project, and sets a variable that exists. Returns the responses. */
export async function readAsAgent(send: Fetch, slug: string, deploymentIds: readonly string[], variable: object): Promise<string> {
  const responses: string[] = []
  const callTool = async (name: string, args: object): Promise<string> => {
    const response = await send('/mcp', {
      method: 'POST',
      headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } }),
    })
    const text = await response.text()
    responses.push(text)
    return text
  }
  const readWith = async (name: string, args: object): Promise<void> => {
    const text = await callTool(name, args)
    if (text.includes('"isError":true') || !text.includes('"result"')) throw new Error(`${name} read nothing: ${text.slice(0, 500)}`)
  }
  for (const name of ['list_projects', 'list_activity', 'search_logs', 'get_instance_usage']) await readWith(name, {})
  for (const id of deploymentIds) for (const name of ['get_deployment', 'get_failure', 'get_build_log']) await callTool(name, { slug, id })
  for (const name of readTools) await readWith(name, { slug })
  await callTool('get_trace', { slug, trace_id: 'ab'.repeat(16) })
  await callTool('set_variable', { slug, ...variable })
  return responses.join('\n')
}
