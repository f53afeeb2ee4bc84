import type { DeploymentRow } from '../store/tables.ts'

/** What the OpenTelemetry SDK of a service is told. */
interface TraceFacts {
  /** The address and token of the trace receiver; empty while tracing is off. */
  exporter: Record<string, string>
  service: string
  resource: Record<string, string>
}

/**
 * Adds the variables of the OpenTelemetry SDKs to the variables of a service. An app with its own exporter gets none, because its exporter would send
 * the token to another server. The receiver takes traces only, so that SDKs are told to export nothing else.
 */
export function addTraceVariables(variables: Record<string, string>, { exporter, service, resource }: TraceFacts): Record<string, string> {
  const hasOwnExporter = Object.keys(variables).some((name) => /^OTEL_(?:EXPORTER_|TRACES_EXPORTER$)/.test(name))
  if (Object.keys(exporter).length === 0 || hasOwnExporter) return variables
  return {
    OTEL_SERVICE_NAME: service,
    OTEL_RESOURCE_ATTRIBUTES: Object.entries(resource)
      .map((pair) => pair.join('='))
      .join(','),
    OTEL_METRICS_EXPORTER: 'none',
    OTEL_LOGS_EXPORTER: 'none',
    ...exporter,
    ...variables,
  }
}

export const describeResource = ({ id, target, commit_sha }: Pick<DeploymentRow, 'id' | 'target' | 'commit_sha'>): Record<string, string> => ({
  'deployment.environment.name': target,
  'service.version': commit_sha ?? id,
  'homeport.deployment.id': id,
})
