import type { Deployment } from '../../contract/deployments.ts'
import type { PromotionProject } from './client.ts'
import { copyDump } from './copy-database.ts'
import { copyVolumeFiles } from './copy-volumes.ts'
import { putReportLine } from './report.ts'
import type { PromotedParts, PromotionStepContext, PromotionStepHandler, PromotionStepName } from './request.ts'
import { addVolume, listLateVolumes } from './services.ts'

export const listLateSteps = (parts: PromotedParts | undefined): PromotionStepName[] =>
  parts && (parts.copied_services.length > 0 || listLateVolumes(parts).length > 0) ? ['data'] : []

const poll_ms = 2_000

/** Data that needs the new version: that of services that run then, and of volumes whose services are known then. */
export const copyLateData: PromotionStepHandler = async (request, done, context) => {
  const { to, parts } = request
  const id = done.deployment_id
  if (!parts || id === undefined) return { note: '' }
  const items = [
    ...parts.copied_services.map(() => 'Data of MariaDB'),
    ...listLateVolumes(parts).map(({ name, path }) => `Volume ${name} at ${path}`),
  ]
  const deployment = await waitForEnd(to, id, context)
  if (deployment.status !== 'ready') {
    const note = 'The deployment there is not ready. Promote again once it is.'
    for (const item of items) done.report = putReportLine(done.report ?? [], { item, outcome: 'not_copied', note })
    return { note: 'not copied' }
  }
  for (const service of parts.copied_services) {
    if (done.copied_services?.includes(service)) continue
    const isOwn = done.added_services?.includes(service) === true
    const dump_id = await copyDump(request, service, isOwn, done, context)
    if (dump_id !== null && !isOwn) done.replaced_services = { ...done.replaced_services, [service]: dump_id }
    done.copied_services = [...(done.copied_services ?? []), service]
    context.persist()
  }
  for (const volume of listLateVolumes(parts)) {
    const started = await addVolume(to, volume, done)
    context.persist()
    if (started !== null) await waitForEnd(to, started, context)
    if (parts.volumes.includes(volume.name) && done.volume_names?.[volume.name] !== undefined)
      await copyVolumeFiles(request, volume.name, done, context)
  }
  return { note: 'copied' }
}

async function waitForEnd({ client, slug }: PromotionProject, id: string, { signal, pause }: PromotionStepContext): Promise<Deployment> {
  for (;;) {
    const { deployment } = await client.call('getDeployment', { params: { slug, id }, query: { build_log: 'false' }, signal })
    if (deployment.finished_at !== null) return deployment
    await pause(poll_ms)
  }
}
