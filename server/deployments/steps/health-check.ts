import type { StepLog } from '../../contract/build-log.ts'
import type { Candidate } from '../supervised-app.ts'
import { type DeploymentRun, resultOf } from '../deployment-run.ts'

/** Waits until the new version responds. If it needs the fixed port of the live version, that one is stopped first. */
export async function healthCheck(run: DeploymentRun, log: StepLog): Promise<void | 'skipped'> {
  const { supervisor, signal } = run
  const candidate = resultOf(run, 'candidate')
  const output = resultOf(run, 'output')
  const finishServices = () => supervisor.finishServices(candidate.spec, signal, output.listener)
  if (!candidate.replica) {
    if (candidate.spec.services.length === 0) return 'skipped'
    return finishServices()
  }
  const waitUntilServing = (started: Candidate) => supervisor.waitUntilServing(started, signal, (line) => log.note(line), output.listener)
  try {
    run.candidate = await waitUntilServing(candidate)
  } catch (error) {
    const stoppedApp = output.is_port_taken && !signal.aborted ? await supervisor.stopForFixedPort(candidate.spec) : undefined
    if (!stoppedApp) throw error
    run.stopped_app = stoppedApp
    const { listen_port } = stoppedApp
    log.note(
      `Warning: the live version is stopped while this one starts, because both listen on port ${listen_port}. Use the PORT variable to deploy without downtime.`,
    )
    await supervisor.stopCandidate(candidate)
    run.candidate = await supervisor.launch({ ...candidate.spec, listen_port }, signal, output.listener)
    run.candidate = await waitUntilServing(run.candidate)
  }
  await finishServices()
  output.endStart()
}
