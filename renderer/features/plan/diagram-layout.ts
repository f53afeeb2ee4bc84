import type { PlannedBuild, PlannedManagedService, PlannedService } from '../../../server/contract/source-plans.ts'
import { serviceKindLabels } from '../../../server/contract/labels.ts'
import { frameworkName } from '../../lib/frameworks.ts'

export interface DiagramNode {
  id: string
  kind: PlannedService['kind'] | 'visitors' | 'volume' | 'managed'
  title: string
  subtitle: string
  column: number
  row: number
}

export interface Diagram {
  nodes: DiagramNode[]
  edges: [from: string, to: string][]
  columns: number
  rows: number
}

/** Arranges visitors, services, managed services and volumes in columns: a service is to the left of its dependencies. */
export function layOutDiagram(
  services: readonly PlannedService[],
  builds: readonly PlannedBuild[],
  managed: readonly PlannedManagedService[],
): Diagram {
  const columns = new Map(services.map((service) => [service.name, service.is_public ? 1 : 0]))
  const hasVisitors = services.some(({ is_public }) => is_public)
  const first = hasVisitors ? 1 : 0
  // Plans have no cycles, so this ends after one pass per service.
  for (let pass = 0; pass < services.length; pass++)
    for (const { name, depends_on } of services)
      for (const dependency of depends_on)
        columns.set(dependency, Math.max(columns.get(dependency) ?? first, Math.max(columns.get(name) ?? first, first) + 1))
  for (const [name, column] of columns) columns.set(name, Math.max(column, first))
  const volumes = [...new Set(services.flatMap((service) => service.volumes))]
  const rows = new Map<number, number>()
  const nextPosition = (column: number) => {
    const row = rows.get(column) ?? 0
    rows.set(column, row + 1)
    return { column, row }
  }
  const nodes: DiagramNode[] = [
    ...(hasVisitors ? [{ id: 'visitors', kind: 'visitors' as const, title: 'Visitors', subtitle: 'HTTP and HTTPS', ...nextPosition(0) }] : []),
    ...services.map((service) => ({
      id: `service ${service.name}`,
      kind: service.kind,
      title: service.name,
      subtitle: describe(service, builds),
      ...nextPosition(columns.get(service.name) ?? first),
    })),
  ]
  // Next to the last service that uses it, so that its line crosses no other service.
  const columnOf = (volume: string) =>
    Math.max(...services.filter((service) => service.volumes.includes(volume)).map(({ name }) => columns.get(name) ?? first)) + 1
  nodes.push(
    ...volumes.map((name) => ({ id: `volume ${name}`, kind: 'volume' as const, title: name, subtitle: 'Volume', ...nextPosition(columnOf(name)) })),
  )
  // Beside the last service that is built. All that is built uses them; a line from one service is enough to see it.
  const built = services.filter(({ build }) => build !== null)
  const columnOfService = ({ name }: PlannedService) => columns.get(name) ?? first
  const lastColumn = Math.max(first, ...built.map(columnOfService))
  const lastServices = built.filter((service) => columnOfService(service) === lastColumn)
  const user = lastServices.find(({ is_main }) => is_main) ?? lastServices[0]
  nodes.push(
    ...managed.map((one) => ({
      id: `managed ${one.name}`,
      kind: 'managed' as const,
      title: one.label,
      subtitle: one.is_added ? 'Managed service' : 'Managed, new',
      ...nextPosition(lastColumn + 1),
    })),
  )
  const managedEdges = user === undefined ? [] : managed.map((one): [string, string] => [`service ${user.name}`, `managed ${one.name}`])
  const serviceEdges = services.flatMap(({ name, is_public, depends_on, volumes: used }): [string, string][] => [
    ...(is_public ? [['visitors', `service ${name}`] as [string, string]] : []),
    ...depends_on.map((one): [string, string] => [`service ${name}`, `service ${one}`]),
    ...used.map((one): [string, string] => [`service ${name}`, `volume ${one}`]),
  ])
  const edges = [...serviceEdges, ...managedEdges]
  return { nodes, edges, columns: Math.max(...rows.keys(), 0) + 1, rows: Math.max(...rows.values(), 1) }
}

function describe({ kind, build, facts }: PlannedService, builds: readonly PlannedBuild[]): string {
  const label = serviceKindLabels[kind]
  const valueOf = (name: string) => facts.find((fact) => fact.name === name)?.value
  const detail = kind === 'cron' ? valueOf('schedule') : build === null ? valueOf('image') : frameworkName(builds[build]?.framework ?? '')
  return detail === undefined || detail === null || detail === '' ? label : `${label}, ${detail}`
}
