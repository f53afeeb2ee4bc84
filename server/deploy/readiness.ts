import { StartFailure } from '../runtime/runtime.ts'
import { updateDeployment } from '../store/deployments.ts'
import type { App, Candidate } from './app.ts'
import type { Apps } from './apps.ts'
import { portWarning, untilHealthy, widePortsOf, wideWarning } from './health.ts'
import type { YardDeps } from './yard.ts'

/**
 * Waits until a candidate answers, and returns it with the port that it answers on, which is kept for its next start. One whose port
 * the engine has to publish first is started once more. `note` hears of what it
 * listens on, when that is not as it was told. Only what this started is withdrawn when it fails; the candidate is the caller's.
 */
export async function untilReady(
  deps: YardDeps,
  candidate: Candidate,
  signal: AbortSignal,
  note: (line: string) => void,
  { launch, withdraw }: { launch(spec: Candidate['spec']): Promise<Candidate>; withdraw: Apps['withdraw'] },
): Promise<Candidate> {
  const answer = async ({ instance, ended, spec }: Candidate) =>
    instance && untilHealthy({ instance, known_port: spec.listen_port, ended, signal, clock: deps.clock })
  let found = await answer(candidate)
  if (!found) return candidate
  let ready = candidate
  if (!found.endpoint) {
    await withdraw(candidate)
    ready = await launch({ ...candidate.spec, listen_port: found.listen_port })
  }
  try {
    if (ready !== candidate) found = await answer(ready)
    if (!found?.endpoint || !ready.instance)
      throw new StartFailure(
        'port_not_detected',
        'The app listens on another port each time it starts.',
        'Let it listen on the port in the variable PORT.',
      )
    const { listen_port, endpoint } = found
    const { deployment_id } = ready.spec
    if (listen_port !== candidate.spec.listen_port) await deps.store.db.write((tx) => updateDeployment(tx, deployment_id, { listen_port }))
    if (listen_port !== null) note(portWarning(listen_port, ready.instance.recommended_port))
    const wide = await widePortsOf(ready.instance)
    if (wide?.length) note(wideWarning(wide))
    return { ...ready, spec: { ...ready.spec, listen_port }, instance: { ...ready.instance, host: endpoint.host, port: endpoint.port } }
  } catch (error) {
    if (ready !== candidate) await withdraw(ready).catch(() => {})
    throw error
  }
}

/** What runs as a process of this machine, with the ports besides loopback that it listens on now. */
export function wideListeners(apps: Iterable<App>): ReturnType<Apps['listening']> {
  const running = [...apps].flatMap(({ spec, candidate }) => (candidate?.instance?.on_machine ? [{ spec, instance: candidate.instance }] : []))
  return Promise.all(
    running.map(async ({ spec: { project_id, branch, target }, instance }) => ({
      project_id,
      branch: target === 'preview' ? branch : null,
      ports: await widePortsOf(instance),
    })),
  )
}
