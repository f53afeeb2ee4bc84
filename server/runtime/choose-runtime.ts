import type { RuntimeStatus } from '../contract/instance.ts'
import { type RuntimeName, runtimeNames, runtimes as traits } from '../contract/runtimes.ts'
import type { Runtime } from './runtime.ts'

/**
 * The runtime of new deployments: the requested one; without a request the first available one. The last one needs no check, because it is always
 * available. A swarm of one node is not chosen, unless a registry is named for its nodes, because an engine may manage one for other reasons. An instance
 * that has led a cluster waits for it, also while it has no quorum, because its apps are there; only an engine that is in no cluster is used without it.
 */
export async function chooseRuntime(
  runtimes: Record<RuntimeName, Pick<Runtime, 'probe'>>,
  requested: RuntimeName | 'auto',
  { hasRegistry, hasLed }: { hasRegistry: boolean; hasLed: boolean },
): Promise<RuntimeStatus & { name: RuntimeName }> {
  if (requested !== 'auto') {
    const { version, reason } = await runtimes[requested].probe()
    return { name: requested, version, reason: `${reason} (--runtime ${requested})`, is_forced: true }
  }
  const unavailable: string[] = []
  for (const name of runtimeNames) {
    const { available, version, reason, nodes = 1, is_member = false } = await runtimes[name].probe()
    if (traits[name].is_cluster && hasLed && is_member) return { name, version, reason, is_forced: false }
    if (traits[name].is_cluster && !hasRegistry && nodes === 1) continue
    if (available || name === runtimeNames.at(-1))
      return { name, version, reason: unavailable.length === 0 ? reason : [...unavailable, traits[name].summary].join(' '), is_forced: false }
    if (!traits[name].is_cluster) unavailable.push(reason)
  }
  throw new Error('There are no runtimes.')
}

/** The runtimes whose replicas stop on exit, by the setting `on_exit`. */
export function getRuntimesToStop(on_exit: 'default' | 'stop' | 'keep'): RuntimeName[] {
  if (on_exit === 'keep') return []
  return runtimeNames.filter((name) => on_exit === 'stop' || !traits[name].keeps_apps_running)
}
