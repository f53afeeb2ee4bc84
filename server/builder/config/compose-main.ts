import type { ComposeContext, ComposeService } from './compose-service.ts'
import type { PublishedPort } from './compose-ports.ts'
import type { ServiceDraft } from './service-draft.ts'

/** Images that speak HTTP to other services or to developers, not to the users of an app: they have no address unless nothing else has. */
const backingImages =
  /(^|\/)(elasticsearch|opensearch|clickhouse(-server)?|influxdb|couchdb|qdrant|meilisearch|typesense|solr|chroma|weaviate|localstack|minio|gotenberg|tika|mailhog|mailpit|inbucket|maildev|mailcatcher|adminer|phpmyadmin|pgadmin4?|mongo-express|redis-commander|redisinsight|jaeger|all-in-one|zipkin)(:|@|$)/

export const isBacking = ({ draft: { config } }: ComposeService): boolean => config.source.kind === 'image' && backingImages.test(config.source.image)

/** Names that such files give to the front service, best first. */
const frontNames = ['web', 'proxy', 'nginx', 'caddy', 'gateway', 'app', 'frontend', 'front', 'www', 'site', 'webapp', 'ui', 'client', 'server']

/** Decides which services have an address, and which of them has the project's: `web`, else the one that publishes port 80, else by name and order. */
export function chooseComposeMain(services: readonly ComposeService[], { log }: ComposeContext): ServiceDraft | null {
  const published = services.filter(({ ports }) => ports.length > 0)
  const isLocal = ({ ports }: ComposeService) => ports.every((port) => port.is_local)
  const fronts = published.filter((service) => !isBacking(service))
  const candidates = firstNonEmpty(
    fronts.filter((service) => !isLocal(service)),
    fronts,
    published,
  )
  for (const service of published) service.draft.wants_public = candidates.includes(service)
  for (const service of published.filter((one) => !candidates.includes(one)))
    log.note(
      service.ports[0]?.at ?? service.draft.at,
      `services.${service.draft.config.name} has no address, because ${isBacking(service) ? 'it serves other services' : 'it is published on this machine’s own address'}`,
    )
  const isBuilt = ({ draft }: ComposeService) => draft.config.source.kind === 'build'
  const withPort80 = candidates.filter(({ ports }) => ports.some(({ target, published: port }) => target === 80 || port === 80 || port === 443))
  const byName = (list: readonly ComposeService[]) =>
    frontNames.map((name) => list.find(({ draft }) => draft.config.name === name)).find((service) => service !== undefined)
  const web = services.find(({ draft }) => draft.config.name === 'web')
  const main =
    (web && (web.ports.length > 0 || candidates.length === 0) ? web : undefined) ??
    (withPort80.length === 1 ? withPort80[0] : undefined) ??
    byName(withPort80) ??
    byName(candidates) ??
    candidates.find(isBuilt) ??
    candidates[0]
  for (const service of new Set([...candidates, ...(main ? [main] : [])])) addAdditionalPorts(service, log)
  if (!main) return null
  if (candidates.length > 1)
    log.note(
      main.draft.at,
      `${main.draft.config.name} answers on the project’s address. A homeport.yaml in which another service is named web changes that`,
    )
  main.draft.wants_public = true
  return main.draft
}

/** Each further HTTP port has an address; TLS is ended by the edge, and a port of the machine's own address is not for visitors. */
function addAdditionalPorts({ draft: { config }, ports }: ComposeService, log: ComposeContext['log']): void {
  const [first, ...others] = ports
  const further = others.filter(({ target }) => target !== first?.target)
  const isHttp = ({ target, is_local }: PublishedPort) => target !== 443 && target !== 8443 && (!is_local || first?.is_local === true)
  const reachable = further.filter(isHttp)
  for (const { target, at } of further.filter((port) => !isHttp(port)))
    log.note(
      at,
      `services.${config.name}.ports: ${target} has no address, because ${target === 443 || target === 8443 ? 'HTTPS ends at the edge' : 'it is published on this machine’s own address'}. Services reach it as ${config.name}:${target}.`,
    )
  if (reachable.length > 0) config.ports = reachable.map(({ target }) => target)
}

const firstNonEmpty = <T>(...lists: T[][]): T[] => lists.find((list) => list.length > 0) ?? []
