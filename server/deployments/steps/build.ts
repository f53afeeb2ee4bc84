import { rm } from 'node:fs/promises'
import type { StepLog } from '../../contract/build-log.ts'
import type { DeploymentTrigger } from '../../contract/deployments.ts'
import type { Artifact } from '../../runtime/runtime.ts'
import { listProjectVolumes } from '../../store/project-volumes.ts'
import { addProjectVolumes } from '../added-volumes.ts'
import { type DeploymentRun, resultOf, saveProgress } from '../deployment-run.ts'
import { computeInputsDigest } from '../reuse-version.ts'
import { formatVersion, sumBytes, type Version } from '../version.ts'
import { getWorkFolder } from './clone.ts'

/** Builds the artifacts of all services. Without a build command an artifact is the source with its dependencies. */
export async function build(run: DeploymentRun, log: StepLog): Promise<void | 'skipped'> {
  if (run.version) return 'skipped'
  const { builds } = resultOf(run, 'plan')
  const artifacts: Artifact[] = []
  for (const [index, open] of resultOf(run, 'builds').entries()) {
    const { services = [] } = builds[index] ?? {}
    if (builds.length > 1) log.note(`Build of ${services.join(', ')}:`)
    artifacts.push(await open.build(log))
  }
  const added = await run.context.store.db.read((tx) => listProjectVolumes(tx, run.project.id))
  const version = addProjectVolumes(await createVersion(run, artifacts, log), added, log.note)
  run.version = version
  await saveProgress(run, { artifact: formatVersion(version), image_bytes: sumBytes(version), inputs_digest: computeInputsDigest(run) })
  await closeBuild(run)
  const hasBuilt = builds.some(({ plan: { work } }) => work.kind === 'dockerfile' || work.build_command !== null)
  if (!hasBuilt) return 'skipped'
}

/** Puts the services together; prebuilt images are pulled when they are missing. */
async function createVersion(run: DeploymentRun, artifacts: Artifact[], log: StepLog): Promise<Version> {
  const { config, builds } = resultOf(run, 'plan')
  const [first] = artifacts
  if (!config) {
    if (!first) throw new Error('The plan of a source without services has a build.')
    return { main: { config: null, artifact: first }, services: [], release: null, settings: {} }
  }
  const runtime = run.context.runtime(run.deployment.runtime)
  const { registries } = run.secrets
  const refreshes = run.deployment.skips_cache === 1 ? 'all' : isRequested(run.deployment.trigger) ? 'moving_tags' : 'none'
  const services: Version['services'] = []
  for (const service of config.services) {
    const built = artifacts[builds.findIndex((one) => one.services.includes(service.name))]
    const image = service.source.kind === 'image' ? service.source.image : ''
    services.push({ config: service, artifact: built ?? (await runtime.useImage({ image, registries, refreshes, signal: run.signal }, log)) })
  }
  return {
    main: services.find((one) => one.config.name === config.main) ?? null,
    services: services.filter((one) => one.config.name !== config.main),
    release: config.release,
    settings: config.settings,
  }
}

/** Whether a user requested this deployment, and therefore expects the newest image. */
const isRequested = (trigger: DeploymentTrigger): boolean => trigger === 'manual' || trigger === 'upload' || trigger === 'retry'

/** Removes what only the builds need. */
export async function closeBuild(run: DeploymentRun): Promise<void> {
  const { builds = [] } = run
  run.builds = []
  for (const open of builds) await open.close()
  await rm(getWorkFolder(run.context.data_dir, run.deployment.id), { recursive: true, force: true, maxRetries: 3 })
}
