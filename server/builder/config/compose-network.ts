import { hostNamePattern } from '../../contract/homeport-yaml.ts'
import { checkKeys } from './compose-keys.ts'
import { readBoolean, readEntries, readItems, readLooseText, readText, valueOf, type ValueContext } from './node-values.ts'
import type { ServiceDraft } from './service-draft.ts'
import { explainNearest } from './nearest-name.ts'
import { quote, type YamlEntry, type YamlMap } from './yaml-tree.ts'

/** The names of the file's networks. All services of an environment are in one network, which is not connected to others. */
export function readNetworks(root: YamlMap, context: ValueContext): Set<string> {
  const names = new Set(['default'])
  const none = { note: 'has no effect here.' }
  for (const { key, at, value } of readEntries(valueOf(root, 'networks'), 'networks', context)) {
    names.add(key)
    if (value.kind !== 'map') continue
    const label = `networks.${key}`
    checkKeys(
      value,
      label,
      ['external', 'driver', 'name'],
      { ipam: none, internal: none, attachable: none, labels: none, driver_opts: none, enable_ipv6: none, enable_ipv4: none },
      context,
    )
    const external = valueOf(value, 'external')
    if (external && (external.kind === 'map' || readBoolean(external, `${label}.external`, context) === true))
      context.log.reject(
        at,
        `${label} is external: it connects the services with containers outside of the project.`,
        'Remove external: true. The services reach each other by name without it.',
      )
    const driver = readText(valueOf(value, 'driver'), `${label}.driver`, context)
    if (driver !== undefined && driver !== 'bridge' && driver !== 'default')
      context.log.reject(value.entries.get('driver')!.at, `${label}.driver: ${quote(driver)} is not a driver that Homeport has.`, 'Remove the line.')
  }
  if (names.size > 2)
    context.log.note(null, `all services share one network, instead of ${[...names].filter((name) => name !== 'default').join(', ')}`)
  return names
}

/** The aliases of a service: its host name, its container's name, aliases and links to it. */
export function addServiceNetworks(
  { config }: ServiceDraft,
  service: YamlMap,
  label: string,
  context: ValueContext & { networks: Set<string> },
): void {
  const add = (name: string) => {
    if (hostNamePattern.test(name.toLowerCase())) config.aliases.push(name.toLowerCase())
  }
  add(readLooseText(valueOf(service, 'container_name'), context))
  add(readLooseText(valueOf(service, 'hostname'), context))
  const node = valueOf(service, 'networks')
  const known = (name: string, at: YamlEntry['at']) => {
    if (!context.networks.has(name))
      context.log.reject(at, `${label}.networks: ${quote(name)} is not in the file’s networks.`, explainNearest(name, [...context.networks]))
  }
  if (node?.kind !== 'map') {
    for (const item of readItems(node, `${label}.networks`, context)) {
      const name = readText(item, `${label}.networks`, context)
      if (name !== undefined) known(name, item.at)
    }
    return
  }
  const none = { note: 'has no effect: addresses are assigned by the platform.' }
  for (const { key, at, value } of readEntries(node, `${label}.networks`, context)) {
    known(key, at)
    if (value.kind !== 'map') continue
    const rules = {
      ipv4_address: none,
      ipv6_address: none,
      link_local_ips: none,
      mac_address: none,
      priority: none,
      gw_priority: none,
      driver_opts: none,
      interface_name: none,
    }
    checkKeys(value, `${label}.networks.${key}`, ['aliases'], rules, context)
    for (const alias of readItems(valueOf(value, 'aliases'), `${label}.networks.${key}.aliases`, context)) add(readLooseText(alias, context))
  }
}
