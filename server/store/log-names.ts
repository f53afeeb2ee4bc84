interface LogName {
  project_id: string | null
  /** Of a build log. */
  deployment_id: string | null
  /** Null for a build log: its deployment knows. */
  environment: 'production' | 'preview' | null
  service: string | null
}

/** What the name of a log says (`deployments/supervised-app.ts`): a deployment, or an environment and a service beside the main one. */
export function parseLogName(stream: string): LogName {
  if (stream.startsWith('dpl_')) return { project_id: null, deployment_id: stream, environment: null, service: null }
  const [, project_id = null, branch, service = null] = /^(prj_[0-9a-z]+)(_[0-9a-f]+)?(?:\.(.+))?$/.exec(stream) ?? []
  return { project_id, deployment_id: null, environment: branch === undefined ? 'production' : 'preview', service }
}
