import { createHash } from 'node:crypto'
import type { BuildSettings } from '../contract/build-plan.ts'
import { parseApps } from '../lib/project-apps.ts'
import { findDeploymentById, updateDeployment } from '../store/deployments.ts'
import { listProjectVolumes } from '../store/project-volumes.ts'
import type { ProjectRow } from '../store/tables.ts'
import { addProjectVolumes } from './added-volumes.ts'
import { type DeploymentRun, saveProgress } from './deployment-run.ts'
import { formatVersion, parseStoredVersion, type Version } from './version.ts'

/** A rollback uses its parent's build if that build still exists and the settings and variables have not changed. */
export async function reuseVersion(run: DeploymentRun): Promise<Version | undefined> {
  const { context, deployment } = run
  if (deployment.trigger !== 'rollback' || deployment.parent_id === null) return undefined
  const parentId = deployment.parent_id
  // The build is claimed in the same transaction, because an old build may be removed at any moment.
  const parent = await context.store.db.write((tx) => {
    const row = findDeploymentById(tx, parentId)
    if (!row?.artifact || row.runtime !== deployment.runtime || row.inputs_digest !== computeInputsDigest(run)) return undefined
    updateDeployment(tx, deployment.id, { artifact: row.artifact })
    return { ...row, artifact: row.artifact }
  })
  if (!parent) return undefined
  const { framework, image_bytes, inputs_digest, listen_port } = parent
  // A version from before a volume was added gets it too, because the files are in the volume since then.
  const added = await context.store.db.read((tx) => listProjectVolumes(tx, deployment.project_id))
  const version = addProjectVolumes(parseStoredVersion(parent.artifact), added, run.log.note)
  await saveProgress(run, { framework, image_bytes, inputs_digest, artifact: formatVersion(version), listen_port })
  return version
}

type DigestInputs = Pick<DeploymentRun, 'deployment' | 'project' | 'secrets'>

/** Identifies what a build depends on besides its source. */
export function computeInputsDigest(run: DigestInputs): string {
  const variables = Object.entries(run.secrets.variables).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256')
    .update(
      JSON.stringify([run.deployment.runtime, getBuildSettings(run.project), variables, ...listBuildSecrets(run), ...parseApps(run.project.apps)]),
    )
    .digest('hex')
}

/** Nothing without build secrets, or without apps, so that digests of earlier builds stay equal. */
const listBuildSecrets = ({ secrets }: DigestInputs): string[] => Object.keys(secrets.build_secrets).toSorted()

export const getBuildSettings = ({ node_version, install_command, build_command, root_directory }: ProjectRow): BuildSettings => ({
  node_version,
  install_command,
  build_command,
  root_directory,
})
