import { dumpedServices, type PresetName, servicePresets } from '../../contract/service-presets.ts'
import type { SettingName, VariableComparison } from './compare.ts'
import type { PromotionReportLine } from './report.ts'
import type { DumpedService, PromotedParts } from './request.ts'
import type { SourceProject, TargetProject } from './sides.ts'

/** Services and data that a promotion can copy, and about which the user decides. */
export interface PartOffer {
  /** Services of the source that the target lacks. */
  services: PresetName[]
  catches_mail: boolean
  has_database: boolean
  /** Volumes with files that can be copied. `target_bytes`: null while the target has none. */
  volumes: { name: string; size_bytes: number | null; target_bytes: number | null }[]
  /** `is_new`: the target has no database yet. */
  database: { size_bytes: number | null; is_new: boolean } | null
  dumps: { service: DumpedService; is_new: boolean }[]
  /** What the target does not support, by name. */
  unsupported: string[]
}

const isDumpedVolume = (name: string): boolean => dumpedServices.some((service) => name === `managed-${service}`)

export function offerParts(source: SourceProject, target: TargetProject): PartOffer {
  const [ours, theirs] = [source.inventory, target.inventory]
  const isHosted = !target.is_instance
  const services = (ours.services ?? []).filter((name) => !theirs.services?.includes(name))
  const lacksServices = isHosted || theirs.services === null
  const lacksVolumes = isHosted || theirs.volumes === null
  const used = (ours.volumes ?? []).filter(({ name, used_by, size_bytes }) => used_by.length > 0 && size_bytes !== 0 && !isDumpedVolume(name))
  const volumes = used.map(({ name, size_bytes }) => {
    const other = theirs.volumes?.find((volume) => volume.name === name)
    return { name, size_bytes, target_bytes: other === undefined || other.size_bytes === 0 ? null : other.size_bytes }
  })
  const dumps = dumpedServices.filter((name) => ours.services?.includes(name)).map((service) => ({ service, is_new: services.includes(service) }))
  const catches_mail = ours.catches_mail === true && theirs.catches_mail !== true
  const unsupported = [
    ...(lacksServices ? services.map((name) => servicePresets[name].label) : []),
    ...(catches_mail && (isHosted || theirs.catches_mail === null) ? ['the mail catcher'] : []),
    ...(lacksVolumes && used.length > 0 ? [`the ${used.length === 1 ? 'volume' : 'volumes'} ${used.map(({ name }) => name).join(', ')}`] : []),
  ]
  return {
    services: lacksServices ? [] : services,
    catches_mail: catches_mail && !isHosted && theirs.catches_mail !== null,
    has_database: ours.has_database && !theirs.has_database,
    volumes: lacksVolumes ? [] : volumes,
    database: ours.has_database && !isHosted ? { size_bytes: ours.database_bytes, is_new: !theirs.has_database } : null,
    dumps: lacksServices ? [] : dumps,
    unsupported,
  }
}

/** The user's selection from an offer. */
export interface PartChoice {
  /** Names of volumes, and `database` data. */
  volumes: ReadonlySet<string>
  copies_database: boolean
  copied_services: ReadonlySet<DumpedService>
  replaces_data: boolean
}

export const noData: PartChoice = { volumes: new Set(), copies_database: false, copied_services: new Set(), replaces_data: false }

/** Services are always added; data only if selected. */
export function chooseParts(source: SourceProject, offer: PartOffer, choice: PartChoice): PromotedParts {
  const added = (source.inventory.volumes ?? []).flatMap(({ name, added: mount }) => (mount ? [{ name, ...mount }] : []))
  return {
    services: offer.services,
    catches_mail: offer.catches_mail,
    has_database: offer.has_database,
    added_volumes: added,
    volumes: offer.volumes.map(({ name }) => name).filter((name) => choice.volumes.has(name)),
    copies_database: offer.database !== null && choice.copies_database,
    copied_services: offer.dumps.map(({ service }) => service).filter((service) => choice.copied_services.has(service)),
    replaces_data: choice.replaces_data,
  }
}

interface Decisions {
  variables: readonly VariableComparison[]
  chosenVariables: ReadonlySet<string>
  missingSettings: readonly SettingName[]
  offer: PartOffer
  parts: PromotedParts
}

/** The parts of a project that a promotion does not copy, by name, with what to do about each. */
export function listNotCopied(
  source: SourceProject,
  { variables, chosenVariables, missingSettings, offer, parts }: Decisions,
): PromotionReportLine[] {
  const lines: PromotionReportLine[] = []
  const add = (item: string, note: string) => lines.push({ item, outcome: 'not_copied', note })
  for (const { key, is_write_only, difference } of variables) {
    if (difference !== 'only_here') continue
    if (is_write_only) add(`Variable ${key}`, 'Its value cannot be read. Add it there.')
    else if (!chosenVariables.has(key)) add(`Variable ${key}`, 'Not selected. Add it there if the app needs it.')
  }
  for (const host of source.inventory.registries ?? [])
    add(`Credentials for ${host}`, 'Passwords of registries cannot be read. Add them there under Registries.')
  for (const name of missingSettings) add(`Setting ${name}`, 'The other instance does not have it.')
  for (const name of offer.unsupported) add(name.charAt(0).toUpperCase() + name.slice(1), 'The other instance does not have it.')
  for (const { name } of offer.volumes) if (!parts.volumes.includes(name)) add(`Files of the volume ${name}`, 'Not selected.')
  if (offer.database && !parts.copies_database) add('Data of the PostgreSQL database', 'Not selected.')
  for (const { service } of offer.dumps)
    if (!parts.copied_services.includes(service)) add(`Data of ${servicePresets[service].label}`, 'Not selected.')
  for (const hostname of source.domains) add(`Domain ${hostname}`, 'It still points here. Move it under Domains.')
  if (source.project.repo_url !== null && source.is_instance)
    add('The repository', 'Pushes are deployed here. Connect it there under Settings to deploy them there.')
  return lines
}
