import { planFactLabels } from '../contract/labels.ts'
import type { PlannedManagedService, PlannedSource } from '../contract/source-plans.ts'
import { formatTable, type Terminal } from './terminal.ts'

/** What was found and where, and the apps of a repository with several. */
export function printFacts({ services, builds, managed, facts, apps }: Omit<PlannedSource, 'commit' | 'homeport_yaml'>, terminal: Terminal): void {
  const rows = [
    ...services.flatMap((service) => service.facts.map((fact) => [service.name, fact] as const)),
    ...builds.flatMap((build) => build.facts.map((fact) => [build.services.join(', '), fact] as const)),
    ...facts.map((fact) => ['', fact] as const),
  ].map(([service, { name, value, origin }]) => [service, planFactLabels[name], value ?? 'none', origin])
  const managedRows = managed.map((one) => [one.name, 'Managed service', describeManagedService(one), one.origin])
  terminal.out('')
  for (const line of formatTable(terminal, ['SERVICE', 'FACT', 'VALUE', 'FROM'], [...rows, ...managedRows])) terminal.out(line)
  terminal.out('')
  if (apps.length === 0) return
  terminal.out('Apps in this source, each for the setting root_directory:')
  const lines = apps.map(({ directory, name, framework }) => [directory, name, framework])
  for (const line of formatTable(terminal, ['FOLDER', 'NAME', 'FRAMEWORK'], lines)) terminal.out(line)
  terminal.out('')
}

const describeManagedService = ({ label, variables, is_listed }: PlannedManagedService): string =>
  `${label}, sets ${variables[0]}${variables.length > 1 ? ' and others' : ''}${is_listed ? '' : '; kept, although the file does not list it'}`
