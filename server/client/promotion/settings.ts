import { ApiError } from '../api-error.ts'
import { isUnsupported, putReportLine } from './report.ts'
import type { PromotionProgress, PromotionRequest } from './request.ts'

/** Changes the settings that only an instance has, and returns what the user must know. Refused settings are reported by name. */
export async function changeInstanceSettings({ to, settings }: PromotionRequest, done: PromotionProgress): Promise<string[]> {
  const params = { slug: to.slug }
  const notes: string[] = []
  const change = async (names: string[], work: () => Promise<void>) => {
    try {
      await work()
    } catch (error) {
      const isRefused = error instanceof ApiError && [400, 403].includes(error.status)
      if (!isUnsupported(error) && !isRefused) throw error
      const why = isRefused ? error.message : 'The other instance does not support them yet. Update it, then promote again.'
      done.report = putReportLine(done.report ?? [], { item: `Settings ${names.join(', ')}`, outcome: 'not_copied', note: why })
      notes.push(`${names.join(', ')} not changed`)
    }
  }
  const { updateProjectSettings, updateWatching } = settings
  if (updateProjectSettings)
    await change(Object.keys(updateProjectSettings), async () => {
      const answer = await to.client.call('updateProjectSettings', { params, body: updateProjectSettings })
      const { cpu_limit } = updateProjectSettings
      if (typeof cpu_limit === 'number' && answer.settings.cpu_limit !== cpu_limit) notes.push(`the machine there has ${answer.cpus} cores`)
    })
  if (updateWatching)
    await change(Object.keys(updateWatching), async () => void (await to.client.call('updateWatching', { params, body: updateWatching })))
  return notes
}
