import { getPortVariable } from '../../lib/public-ports.ts'
import type { StartRequest } from '../runtime.ts'
import type { DockerEngine } from './engine.ts'

export const defaultAppPort = 8080
export const maxAppProcesses = 256
export const appLogConfig = { 'max-size': '10m', 'max-file': '3' }

/** What every container of an app has: its ports, its environment as `KEY=value`, and the labels by which it is found again. */
export function describeAppContainer(engine: DockerEngine, request: Omit<StartRequest, 'onLine' | 'onExit'>) {
  const { service, artifact, listen_port, ports: further = [] } = request
  const port = service?.port ?? (artifact.kind === 'image' ? artifact.port : null) ?? defaultAppPort
  const portVariables = Object.fromEntries(further.map((one) => [getPortVariable(one), String(one)]))
  const variables = { HOST: '0.0.0.0', ...request.variables, ...portVariables, PORT: String(port) }
  return {
    ports: [...new Set([port, ...(listen_port === null ? [] : [listen_port]), ...further])],
    environment: Object.entries(variables).map(([key, value]) => `${key}=${value}`),
    labels: engine.createLabels('app', {
      project_id: request.project_id,
      deployment_id: request.deployment_id,
      'homeport.port': String(port),
      'homeport.ports': further.length === 0 ? undefined : further.join(','),
      'homeport.service': service?.name,
      'homeport.replica': request.replica === undefined ? undefined : String(request.replica),
      'homeport.definition': service?.definition,
    }),
  }
}
