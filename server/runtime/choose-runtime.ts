import type { RuntimeName } from '../contract/deployments.ts'
import type { RuntimeStatus } from '../contract/instance.ts'
import type { Runtime } from './runtime.ts'

/** The runtime of new deployments: the requested one; without a request Docker if an engine is available, else processes. */
export async function chooseRuntime(
  runtimes: Record<RuntimeName, Runtime>,
  requested: RuntimeName | 'auto',
): Promise<RuntimeStatus & { name: RuntimeName }> {
  if (requested !== 'auto') {
    const { version, reason } = await runtimes[requested].probe()
    return { name: requested, version, reason: `${reason} (--runtime ${requested})`, is_forced: true }
  }
  const docker = await runtimes.docker.probe()
  if (docker.available) return { name: 'docker', version: docker.version, reason: docker.reason, is_forced: false }
  const processes = await runtimes.process.probe()
  return {
    name: 'process',
    version: processes.version,
    reason: `${docker.reason} Apps run as processes on this machine, without isolation.`,
    is_forced: false,
  }
}

/** The runtimes whose replicas stop on exit, by the setting `on_exit`. */
export function getRuntimesToStop(on_exit: 'default' | 'stop' | 'keep'): RuntimeName[] {
  if (on_exit === 'keep') return []
  return on_exit === 'stop' ? ['docker', 'process'] : ['process']
}
