import type { AppSpec } from './supervised-app.ts'

/** What a start of the main service takes from its app as it is. */
export const describeStart = ({ project_id, deployment_id, listen_port, ports, memory_mb, cpus, node_labels, service }: AppSpec) => ({
  project_id,
  deployment_id,
  listen_port,
  ports,
  memory_mb,
  cpus,
  ...(node_labels && { node_labels }),
  ...(service && { service }),
})
