import { servicePresets } from '../../contract/service-presets.ts'
import { ApiError } from '../api-error.ts'
import type { PromotionProject } from './client.ts'
import { isUnsupported, putReportLine } from './report.ts'
import type { AddedVolume, PromotedParts, PromotionProgress, PromotionStepHandler, PromotionStepName } from './request.ts'
import { cancelDeployment } from './target.ts'

/** The steps for services and data that come before the build. */
export function listPartSteps(parts: PromotedParts | undefined): PromotionStepName[] {
  if (!parts) return []
  const hasServices = parts.services.length > 0 || parts.catches_mail || parts.has_database || listEarlyVolumes(parts).length > 0
  return [
    ...(hasServices ? (['services'] as const) : []),
    ...(listEarlyCopies(parts).length > 0 ? (['volumes'] as const) : []),
    ...(parts.copies_database ? (['database'] as const) : []),
  ]
}

/** A service other than the main one exists once the project is deployed. */
export const listEarlyVolumes = ({ added_volumes }: PromotedParts): AddedVolume[] => added_volumes.filter(({ service }) => service === null)
export const listLateVolumes = ({ added_volumes }: PromotedParts): AddedVolume[] => added_volumes.filter(({ service }) => service !== null)
export const listEarlyCopies = (parts: PromotedParts): string[] =>
  parts.volumes.filter((name) => !listLateVolumes(parts).some((volume) => volume.name === name))

/** Adds the services of the source. Existing ones of the target stay. Deployments that this starts are canceled, because the promotion deploys. */
export const addServices: PromotionStepHandler = async ({ to, parts }, done, { persist }) => {
  if (!parts) return { note: '' }
  const { client, slug } = to
  const params = { slug }
  let count = 0
  const add = async (item: string, work: () => Promise<{ deployment_id: string | null } | null>) => {
    try {
      const answer = await work()
      if (answer && answer.deployment_id !== null) await cancelDeployment(to, answer.deployment_id)
      done.report = putReportLine(done.report ?? [], {
        item,
        outcome: answer ? 'copied' : 'kept',
        note: answer ? 'Added without data.' : 'The project there already has it.',
      })
      count += answer ? 1 : 0
      persist()
    } catch (error) {
      if (!isUnsupported(error)) throw error
      const note = 'The other instance does not support it yet. Update it, then promote again.'
      done.report = putReportLine(done.report ?? [], { item, outcome: 'not_copied', note })
    }
  }

  const existing = parts.services.length === 0 ? [] : await listServices(to)
  for (const name of parts.services)
    await add(servicePresets[name].label, async () => {
      if (existing.includes(name) && !done.added_services?.includes(name)) return null
      // Recorded before the attempt, so that a lost response leaves no unknown state.
      done.added_services = [...new Set([...(done.added_services ?? []), name])]
      persist()
      return client.call('addManagedService', { params, body: { name } })
    })
  if (parts.catches_mail)
    await add('Mail catcher', async () => {
      if (!done.turned_on_mail && (await client.call('getMail', { params })).catcher.is_enabled) return null
      done.turned_on_mail = true
      persist()
      return client.call('updateMail', { params, body: { is_enabled: true } })
    })
  if (parts.has_database)
    await add('PostgreSQL database', async () => {
      if (!done.made_database && (await hasDatabase(to))) return null
      done.made_database = true
      persist()
      return client.call('createDatabase', { params }).catch((error: unknown) => {
        // The response to an earlier attempt was lost.
        if (error instanceof ApiError && error.code === 'database_exists') return { deployment_id: null }
        throw error
      })
    })
  for (const volume of listEarlyVolumes(parts)) await addVolume(to, volume, done)
  return { note: count === 0 ? 'unchanged' : `${count} added` }
}

/** Keeps a path at the target. A refused path is reported. Resolves with the deployment that this started. */
export async function addVolume(to: PromotionProject, { name, path, service }: AddedVolume, done: PromotionProgress): Promise<string | null> {
  const item = `Volume ${name} at ${path}`
  const report = (outcome: 'copied' | 'kept' | 'not_copied', note: string) => {
    done.report = putReportLine(done.report ?? [], { item, outcome, note })
  }
  try {
    const { volumes } = await to.client.call('listVolumes', { params: { slug: to.slug } })
    const isThere = volumes.some(({ added }) => added?.path === path && added.service === service)
    const body = { path, ...(service !== null && { service }) }
    const answer = await to.client.call('addVolume', { params: { slug: to.slug }, body })
    done.volume_names = { ...done.volume_names, [name]: answer.volume }
    if (!isThere) done.added_volumes = [...(done.added_volumes ?? []), answer.volume]
    report(isThere ? 'kept' : 'copied', 'The path is already kept there.')
    if (service !== null || answer.deployment_id === null) return answer.deployment_id
    await cancelDeployment(to, answer.deployment_id)
    return null
  } catch (error) {
    if (!(error instanceof ApiError) || error.status < 400 || error.status >= 500) throw error
    report('not_copied', isUnsupported(error) ? 'The other instance does not support volumes without a configuration file.' : error.message)
    return null
  }
}

const listServices = async ({ client, slug }: PromotionProject): Promise<string[]> =>
  client.call('listManagedServices', { params: { slug } }).then(
    ({ services }) => services.filter(({ is_added }) => is_added).map(({ name }) => name),
    (error: unknown) => {
      if (isUnsupported(error)) return []
      throw error
    },
  )

const hasDatabase = async ({ client, slug }: PromotionProject): Promise<boolean> =>
  client.call('getDatabase', { params: { slug } }).then(
    () => true,
    (error: unknown) => {
      if (error instanceof ApiError && error.code === 'database_not_found') return false
      throw error
    },
  )
