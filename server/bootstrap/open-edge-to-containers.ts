import { BlockList } from 'node:net'
import { findDockerHostAddress, type HostAddress } from '../runtime/docker/host-address.ts'
import { findProject } from '../store/projects.ts'
import type { PlatformContext } from './context.ts'
import type { PlatformEdge } from './start-edge.ts'
import type { PlatformRuntimes } from './start-runtimes.ts'

/** In `/etc/hosts` of one container. */
const maxNames = 500

/**
 * Makes the edge reachable from containers: it also listens on this machine's address in the network of the instance, for containers of that
 * network only. A container resolves the hostnames of its own account as of its start.
 */
export function openEdgeToContainers({ store, log }: PlatformContext, { docker, edgeHosts }: PlatformRuntimes, { edge, plain }: PlatformEdge): void {
  const listening = new Map<string, Promise<boolean>>()

  const listen = async ({ bind, subnet }: HostAddress): Promise<boolean> => {
    // An engine in a virtual machine forwards to loopback, where the edge listens anyway.
    if (bind === null) return true
    const network = new BlockList()
    const [address = '', bits = ''] = subnet?.split('/') ?? []
    if (address !== '') network.addSubnet(address, Number(bits))
    const accepts = (remote: string) => network.check(remote)
    return edge.listenOnNetwork({ address: bind, port: plain.port, accepts }).then(
      () => true,
      (error: unknown) => {
        listening.delete(bind)
        log.warn('edge_container_listen_failed', { address: bind, port: plain.port, error })
        return false
      },
    )
  }

  const ensureListening = (address: HostAddress): Promise<boolean> => {
    const key = address.bind ?? ''
    const opened = listening.get(key) ?? listen(address)
    listening.set(key, opened)
    return opened
  }

  const listNames = (projectId: string): string[] => {
    const routed = edge.listHosts().filter((name) => name.endsWith('.localhost'))
    return store.db.readSync((tx) => {
      const own = findProject(tx, projectId)
      const isOfAccount = (name: string) => {
        const id = edge.getRoute(name)?.project_id
        return id === projectId || (id !== undefined && own !== undefined && findProject(tx, id)?.account_id === own.account_id)
      }
      const names = [...(own ? [`${own.slug}.localhost`] : []), ...routed.filter(isOfAccount).toSorted()]
      return [...new Set(names)].slice(0, maxNames)
    })
  }

  edgeHosts.connect(async (projectId, address) => ((await ensureListening(address)) ? listNames(projectId) : []))

  // Containers of the previous run still have the address.
  void findDockerHostAddress(docker, false).then(
    (address) => address && ensureListening(address),
    () => {},
  )
}
