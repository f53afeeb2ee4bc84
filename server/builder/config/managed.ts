import { type ManagedName, managedNames } from '../../contract/managed-names.ts'
import type { ProjectConfig } from '../../contract/project-config.ts'
import { describeManaged, isPresetName } from '../../contract/service-presets.ts'
import { DetectFailure } from '../detect-failure.ts'
import type { ConfigLog } from './config-failure.ts'
import type { ServiceDraft } from './service-draft.ts'
import { findPosition, type YamlNode } from './yaml-tree.ts'

/**
 * The managed services that homeport.yaml lists. A preset is a service under its own name. What is built waits for it, so that it needs no entry in
 * depends_on.
 */
export function readManaged(listed: readonly ManagedName[], drafts: readonly ServiceDraft[], root: YamlNode, log: ConfigLog): ManagedName[] {
  for (const [index, name] of listed.entries())
    if (isPresetName(name) && drafts.some(({ config }) => hasName(config, name)))
      log.reject(
        findPosition(root, ['managed', index]),
        `managed: ${name} is also the name of a service of this file.`,
        `Rename the service, or remove ${name} from managed.`,
      )
  const managed = managedNames.filter((name) => listed.includes(name))
  const names = drafts.map(({ config }) => config.name)
  for (const { config } of drafts)
    config.depends_on = config.depends_on.filter(({ service }) => names.includes(service) || !managed.some((name) => name === service))
  return managed
}

export const explainManaged = (managed: readonly ManagedName[]): string[] =>
  managed.length === 0 ? [] : [`Managed services: ${managed.map((name) => describeManaged(name).label).join(', ')}`]

/** Throws when a service of the source has the name of a managed service of the project. */
export function requireFreeNames(config: Pick<ProjectConfig, 'file' | 'services'> | null, names: readonly ManagedName[]): void {
  for (const name of names)
    if (isPresetName(name) && config?.services.some((service) => hasName(service, name)))
      throw new DetectFailure(
        `${config.file} has a service “${name}”, and the project has a managed service with this name.`,
        `Rename the service in ${config.file}, or remove the managed one with ${describeManaged(name).remove('SLUG')}.`,
      )
}

const hasName = ({ name, aliases }: { name: string; aliases: readonly string[] }, searched: string): boolean =>
  name === searched || aliases.includes(searched)
