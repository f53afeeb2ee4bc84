import type { StepLog } from '../contract/build-log.ts'
import type { ManagedName } from '../contract/managed-names.ts'
import type { ProjectConfig } from '../contract/project-config.ts'
import { howToRunImages, runtimes } from '../contract/runtimes.ts'
import { describeManaged, isPresetName, type PresetName } from '../contract/service-presets.ts'
import { DetectFailure } from '../builder/index.ts'
import { isoTime } from '../lib/clock.ts'
import { addManagedService, listManagedServices, reserveManagedService } from '../store/managed-services.ts'
import type { DeploymentContext } from './context.ts'
import type { DeploymentRun } from './deployment-run.ts'
import { readSecrets } from './variables.ts'

/**
 * Gives the project what its homeport.yaml lists under `managed`, and the run its variables. A preview adds nothing to the project, because its
 * branch may be anyone's: it has its own containers of the presets, and what is one per project waits for production.
 */
export async function addDeclaredServices(run: DeploymentRun, config: ProjectConfig | null, log: StepLog): Promise<void> {
  const { context, deployment, project } = run
  if (!config?.managed) return
  const { managed, file } = config
  const presets = managed.filter(isPresetName)
  if (presets[0] !== undefined && !runtimes[deployment.runtime].runs_images)
    throw new DetectFailure(
      `${file} lists ${presets.join(', ')} under managed, which ${presets.length === 1 ? 'needs' : 'need'} Docker, and this project is deployed without it.`,
      howToRunImages,
    )
  const existing = await listProjectServices(context, project.id)
  const missing = managed.filter((name) => !existing.includes(name))
  if (deployment.target !== 'production') await reserveForPreview(run, file, missing, log)
  // The same source with changed variables, or after a service was removed: what was just removed is not added again at once.
  else if (deployment.trigger === 'env_change') {
    for (const name of missing)
      log.note(`${describeManaged(name).label} is not in the project, although ${file} lists ${name} under managed. The next deployment adds it.`)
    return
  } else await addMissing(run, file, missing, log)
  if (deployment.target === 'production')
    for (const name of existing)
      if (!managed.includes(name))
        log.note(
          `The project has ${name}, which ${file} does not list under managed. It is kept. Remove it with ${describeManaged(name).remove(project.slug)}`,
        )
  if (missing.length > 0) await renewSecrets(run, presets)
}

async function addMissing(run: DeploymentRun, file: string | null, missing: readonly ManagedName[], log: StepLog): Promise<void> {
  for (const name of missing)
    if (await addService(run, name)) log.note(`Added ${describeManaged(name).label} to the project, because ${file} lists ${name} under managed.`)
}

async function reserveForPreview(
  { context, project }: DeploymentRun,
  file: string | null,
  missing: readonly ManagedName[],
  log: StepLog,
): Promise<void> {
  const created_at = isoTime(context.clock.now())
  await context.store.db.write((tx) => {
    for (const name of missing) if (isPresetName(name)) reserveManagedService(tx, context.sealer, { project_id: project.id, name, created_at })
  })
  for (const name of missing)
    log.note(
      isPresetName(name)
        ? `${describeManaged(name).label} runs for this preview alone, because ${file} lists ${name} under managed and the project does not have it.`
        : `${describeManaged(name).label} is not added by a preview. The next production deployment adds it, if its ${file} lists ${name} under managed.`,
    )
}

/** The managed services that a project has, in the words of homeport.yaml. */
export async function listProjectServices(
  { store, databases, mailCatcher }: Pick<DeploymentContext, 'store' | 'databases' | 'mailCatcher'>,
  projectId: string,
): Promise<ManagedName[]> {
  const rows = await store.db.read((tx) => listManagedServices(tx, projectId))
  const presets: PresetName[] = rows
    .filter(({ removed_at }) => removed_at === null)
    .map(({ name }) => name)
    .filter(isPresetName)
  const database = await databases.find(projectId)
  const mail = await mailCatcher.status(projectId)
  return [...(database?.is_ready === 1 ? ['postgres' as const] : []), ...presets, ...(mail.is_enabled ? ['mail' as const] : [])]
}

/** As the operations of the API do it. False: someone else has added it in the meantime. */
async function addService({ context, project }: DeploymentRun, name: ManagedName): Promise<boolean> {
  const { store, sealer, clock, databases, mailCatcher } = context
  if (name === 'mail') return mailCatcher.setEnabled(project.id, true, (_tx, isChanged) => isChanged)
  if (name !== 'postgres')
    return store.db.write((tx) => {
      tx.publish({ type: 'project_changed', id: project.id })
      return addManagedService(tx, sealer, { project_id: project.id, name, created_at: isoTime(clock.now()) })
    })
  const obstacle = await store.db.read((tx) => context.findDatabaseObstacle(tx, project.account_id))
  if (obstacle !== undefined) throw new DetectFailure(obstacle, 'Or remove postgres from managed.')
  const isNew = (await databases.create(project.id)) !== undefined
  // One that is being created is waited for.
  if (!isNew) await databases.exclusive(project.id, () => Promise.resolve())
  return isNew
}

/** Variables of services that were just added. What was noted before is not repeated. */
async function renewSecrets(run: DeploymentRun, presets: PresetName[]): Promise<void> {
  const noted = new Set(run.secrets.notes)
  run.secrets = await readSecrets(run.context, run.project, run.deployment, presets)
  run.log.setMask(run.secrets.mask)
  for (const note of run.secrets.notes) if (!noted.has(note)) run.log.note(note)
}
