import type { StepLog } from '../../contract/build-log.ts'
import { compareAndSwapStatus } from '../../store/deployments.ts'
import { createAppSpec } from '../app-spec.ts'
import { type AppOutput, type DeploymentRun, resultOf } from '../deployment-run.ts'
import { publishChange } from '../outcome.ts'

/** Starts the new version next to the live one, without traffic. The edge serves a static site without a replica. */
export async function start(run: DeploymentRun, log: StepLog): Promise<void | 'skipped'> {
  const { context, deployment, supervisor, signal } = run
  const build_ms = context.clock.now() - Date.parse(deployment.started_at ?? deployment.created_at)
  await context.store.db.write((tx) => {
    if (!compareAndSwapStatus(tx, deployment.id, ['building'], 'deploying', { build_ms })) throw new Error('The deployment has already ended.')
    publishChange(tx, deployment.project_id, deployment.id)
  })
  run.output = createAppOutput(log)
  run.candidate = await supervisor.launch(createAppSpec(run, resultOf(run, 'artifact')), signal, run.output.listener)
  if (!run.candidate.replica) return 'skipped'
}

/** The build log shows what the app prints until it is healthy. */
function createAppOutput(log: StepLog): AppOutput {
  let isStarting = true
  const output: AppOutput = {
    listener(stream, line) {
      if (isStarting) log.line(stream, line)
      output.is_port_taken ||= line.includes('EADDRINUSE')
    },
    is_port_taken: false,
    endStart: () => (isStarting = false),
  }
  return output
}
