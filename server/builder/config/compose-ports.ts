import type { Position } from './config-failure.ts'
import { readEntries, readItems, readLooseText, readText, valueOf, type ValueContext } from './node-values.ts'
import { quote, type YamlNode } from './yaml-tree.ts'

export interface PublishedPort {
  target: number
  published: number | null
  /** Bound to the machine's own address only. */
  is_local: boolean
  at: Position
}

/** Ports of other protocols than HTTP, on which published files make databases and queues reachable. */
const otherProtocols = new Set([
  21, 22, 23, 25, 53, 110, 143, 389, 465, 587, 636, 853, 993, 995, 1025, 1433, 1521, 1883, 2181, 2375, 2376, 2379, 2380, 2525, 3306, 3478, 4222, 5060,
  5432, 5433, 5671, 5672, 6379, 6380, 6432, 7000, 7001, 7687, 8883, 9042, 9092, 9093, 9094, 9300, 11211, 26257, 27017, 27018, 29092, 33060, 50000,
  61616,
])

/** The HTTP ports that a service publishes, best first; `others` are those of other protocols, which stay inside the environment. */
export function readPorts(node: YamlNode | undefined, label: string, context: ValueContext): { http: PublishedPort[]; others: PublishedPort[] } {
  const ports = readItems(node, label, context).flatMap((item) => readPort(item, label, context) ?? [])
  const http = ports.filter(({ target }) => !otherProtocols.has(target))
  const others = ports.filter((port) => !http.includes(port))
  // TLS is ended by the edge, so a plain port is better than one for HTTPS.
  const rank = ({ target }: PublishedPort) => (target === 80 ? 0 : target === 443 || target === 8443 ? 2 : 1)
  return { http: http.sort((a, b) => rank(a) - rank(b)), others }
}

function readPort(node: YamlNode, label: string, context: ValueContext): PublishedPort | undefined {
  const hint = 'Write a port as "8080:80", or as a map with target and published.'
  const reject = (text: string) => {
    context.log.reject(node.at, `${label}: ${quote(text)} is not a port.`, hint)
    return undefined
  }
  if (node.kind === 'list') return reject('a list')
  if (node.kind === 'map') {
    const known = ['target', 'published', 'protocol', 'mode', 'host_ip', 'name', 'app_protocol']
    for (const { key } of readEntries(node, label, context)) if (!known.includes(key)) return reject(key)
    return createPort(
      readLooseText(valueOf(node, 'target'), context),
      readLooseText(valueOf(node, 'published'), context),
      readLooseText(valueOf(node, 'host_ip'), context),
      readLooseText(valueOf(node, 'protocol'), context) || 'tcp',
      node,
      label,
      context,
    )
  }
  const text = readLooseText(node, context)
  const [, ports = '', protocol = 'tcp'] = /^([^/]*)(?:\/(\w+))?$/.exec(text) ?? []
  const [, host = '', rest = ''] = /^(?:(\[[^\]]*\]|[^:[\]]*(?=:[^:]*:[^:]*$)):)?(.*)$/.exec(ports) ?? []
  const parts = rest.split(':')
  if (parts.length > 2) return reject(node.text)
  const target = parts.at(-1) ?? ''
  const published = parts.length === 2 ? (parts[0] ?? '') : ''
  return createPort(target, published, host, protocol, node, label, context)
}

function createPort(
  target: string,
  published: string,
  host: string,
  protocol: string,
  node: YamlNode,
  label: string,
  context: ValueContext,
): PublishedPort | undefined {
  const range = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(target)
  const port = Number(range?.[1] ?? 0)
  if (port < 1 || port > 65_535 || !['tcp', 'udp', 'sctp'].includes(protocol.toLowerCase())) {
    // A missing variable is the better explanation.
    if (readText(node.kind === 'map' ? valueOf(node, 'target') : node, label, context) === undefined) return undefined
    const text = node.kind === 'scalar' ? node.text : target
    context.log.reject(node.at, `${label}: ${quote(text)} is not a port.`, 'Write a port as "8080:80", or as a map with target and published.')
    return undefined
  }
  if (protocol.toLowerCase() !== 'tcp' || range?.[2] !== undefined) {
    const what = range?.[2] === undefined ? `${port}/${protocol}` : `The range ${target}`
    context.log.note(node.at, `${label}: ${what} is not published. Services reach it by name; the edge only forwards HTTP.`)
    return undefined
  }
  const first = Number(/^\d{1,5}/.exec(published)?.[0] ?? 0)
  return { target: port, published: first > 0 ? first : null, is_local: /^(127\.|\[?::1\]?$|localhost$)/.test(host), at: node.at }
}
