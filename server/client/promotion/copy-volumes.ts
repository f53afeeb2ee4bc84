import { limits } from '../../contract/limits.ts'
import { ApiError } from '../api-error.ts'
import { isUnsupported, putReportLine } from './report.ts'
import type { PromotionProgress, PromotionRequest, PromotionStepContext, PromotionStepHandler } from './request.ts'
import { listEarlyCopies } from './services.ts'

/** Copies the files of volumes, before the version that uses them is deployed. */
export const copyVolumes: PromotionStepHandler = async (request, done, context) => {
  let count = 0
  for (const name of request.parts ? listEarlyCopies(request.parts) : []) if (await copyVolumeFiles(request, name, done, context)) count++
  return { note: `${count} copied` }
}

/** Copies the files of one volume; false when the target keeps its own. A retry continues after the completed volumes. */
export async function copyVolumeFiles(
  { from, to, parts }: PromotionRequest,
  name: string,
  done: PromotionProgress,
  { signal, onProgress, persist }: PromotionStepContext,
): Promise<boolean> {
  if (done.volumes_done?.includes(name)) return done.replaced_volumes?.some((one) => one.name === (done.volume_names?.[name] ?? name)) === true
  const target = done.volume_names?.[name] ?? name
  const finish = (outcome: 'copied' | 'kept' | 'not_copied', note: string): boolean => {
    done.report = putReportLine(done.report ?? [], { item: `Files of the volume ${name}`, outcome, note })
    done.volumes_done = [...(done.volumes_done ?? []), name]
    delete done.copying_volume
    persist()
    return outcome === 'copied'
  }
  const replaces = parts?.replaces_data === true
  const isRetry = done.copying_volume === name
  try {
    if (!replaces && !isRetry && (await hasFiles(to, target)))
      return finish('kept', 'The volume on the other instance has files. Choose to replace data to copy them.')
    const params = { slug: from.slug, name }
    const file = await from.client.download('downloadVolume', { params }, { signal, onProgress, max_bytes: limits.volume_upload.packed_bytes })
    done.copying_volume = name
    persist()
    onProgress(0, file.size)
    const { files, before } = await to.client.upload(
      'uploadVolume',
      { params: { slug: to.slug, name: target }, query: { create: 'true', ...(replaces ? {} : { only_if_empty: 'true' }) } },
      file,
      { type: 'application/gzip', signal, onProgress },
    )
    done.replaced_volumes = [...(done.replaced_volumes ?? []), { name: target, snapshot_id: before?.id ?? null }]
    return finish('copied', `${files === 1 ? '1 file' : `${files} files`}.${before ? ` A snapshot has those from before: ${before.id}.` : ''}`)
  } catch (error) {
    if (!(error instanceof ApiError)) throw error
    if (error.code === 'volume_not_empty') {
      if (!isRetry) return finish('kept', 'The volume on the other instance has files. Choose to replace data to copy them.')
      // The response to the earlier attempt was lost: the volume had been empty.
      done.replaced_volumes = [...(done.replaced_volumes ?? []), { name: target, snapshot_id: null }]
      return finish('copied', 'Copied.')
    }
    if (isUnsupported(error)) return finish('not_copied', 'The other instance does not support volume archives yet. Update it, then promote again.')
    if (error.code === 'invalid_archive' || error.code === 'payload_too_large' || error.code === 'volume_not_found')
      return finish('not_copied', error.message)
    throw error
  }
}

/** False for an instance that does not report it. The upload itself is refused then. */
async function hasFiles({ client, slug }: PromotionRequest['to'], name: string): Promise<boolean> {
  const answer = await client.call('listVolumes', { params: { slug } }).catch((error: unknown) => {
    if (isUnsupported(error)) return { volumes: [] }
    throw error
  })
  return (answer.volumes.find((volume) => volume.name === name)?.size_bytes ?? 0) > 0
}
