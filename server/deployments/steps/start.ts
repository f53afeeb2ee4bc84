import type { StepLog } from '../../contract/build-log.ts'
import { parseAutoscaling } from '../../store/autoscaling.ts'
import { compareAndSwapStatus } from '../../store/deployments.ts'
import { CommandFailure } from '../../runtime/runtime.ts'
import { createAppSpec, toProjectColumns } from '../app-spec.ts'
import { type AppOutput, type DeploymentRun, resultOf } from '../deployment-run.ts'
import { fillNewVolumes } from '../new-volumes.ts'
import { publishChange } from '../outcome.ts'
import { copyVolumesToPreview } from '../preview-volumes.ts'
import { isRestricted } from '../pull-requests.ts'
import type { AppSpec } from '../supervised-app.ts'
import type { Version } from '../version.ts'

type Release = NonNullable<Version['release']>

/** Starts the new version next to the live one, without traffic. The edge serves a static site without a replica. */
export async function start(run: DeploymentRun, log: StepLog): Promise<void | 'skipped'> {
  const { context, deployment, supervisor, signal } = run
  const build_ms = context.clock.now() - Date.parse(deployment.started_at ?? deployment.created_at)
  await context.store.db.write((tx) => {
    if (!compareAndSwapStatus(tx, deployment.id, ['building'], 'deploying', { build_ms })) throw new Error('The deployment has already ended.')
    publishChange(tx, deployment.project_id, deployment.id)
  })
  run.output = createAppOutput(log)
  const version = resultOf(run, 'version')
  run.spec = createAppSpec(run, version)
  noteFewerReplicas(run, version, log)
  if (!(await run.context.store.db.read((tx) => isRestricted(tx, run.deployment))))
    await copyVolumesToPreview(run, { ...run.project, ...toProjectColumns(version.settings) }, run.spec, log)
  await fillNewVolumes(run, run.spec, log)
  if (version.release) await release(run, run.spec, version.release, log)
  run.candidate = await supervisor.launch(run.spec, signal, run.output.listener)
  if (!run.candidate.replica && run.spec.services.length === 0) return 'skipped'
}

/** Why fewer replicas run than the configuration file or the project asks for. */
function noteFewerReplicas({ context, deployment, project }: DeploymentRun, { main, services }: Version, log: StepLog): void {
  if (deployment.target === 'preview') return
  const { max_replicas } = context.store.db.readSync((tx) => context.getPlanLimits(tx, project.account_id))
  for (const { config } of [...(main ? [main] : []), ...services]) {
    if (config === null) continue
    const ofProject = config === main?.config ? (parseAutoscaling(project.autoscaling)?.max ?? project.replicas) : 1
    const wanted = config.autoscaling?.max ?? config.replicas ?? ofProject
    if (wanted > 1 && config.volumes.length > 0)
      log.note(`Warning: ${config.name} runs once and not as ${wanted} replicas, because replicas would write to its volume at the same time.`)
    else if (wanted > max_replicas)
      log.note(`Warning: ${config.name} runs at most ${max_replicas} replicas and not ${wanted}, because the plan of this account allows no more.`)
  }
}

/** Runs the release command in the new version, with its variables and database, while the previous version serves. */
async function release({ supervisor, signal }: DeploymentRun, spec: AppSpec, { service, command }: Release, log: StepLog): Promise<void> {
  const text = command.join(' ')
  log.note(`Release command: ${text}`)
  const exit = await supervisor.runTask(spec, { name: 'release', service, command }, (stream, line) => log.line(stream, line), signal)
  signal.throwIfAborted()
  if (exit.out_of_memory)
    throw new CommandFailure(
      'out_of_memory',
      `The release command used more memory than ${spec.memory_mb} MB.`,
      'Raise the memory limit in the project settings.',
    )
  if (exit.code !== 0)
    throw new CommandFailure(
      'start_failed',
      `The release command \`${text}\` exited with code ${exit.code ?? 'unknown'}. The previous version stays live.`,
      'Fix the command. Its last lines in the build log show the cause.',
    )
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
