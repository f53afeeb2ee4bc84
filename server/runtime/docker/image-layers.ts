import { createHash } from 'node:crypto'
import type Docker from 'dockerode'

export interface ImageLayer {
  /** The same for every image that stands on it. */
  id: string
  bytes: number
}

/** The layers of images with their sizes, lowest first. An image never changes, so each is looked at once; one that is gone has none. */
export function createLayerReader(): (docker: Docker, imageId: string) => Promise<ImageLayer[]> {
  const cache = new Map<string, ImageLayer[]>()
  const nameLayers = createLayerNamer()
  return async (docker, imageId) => {
    const cached = cache.get(imageId)
    if (cached) return cached
    const image = docker.getImage(imageId)
    const layers = await Promise.all([image.inspect(), image.history()]).then(
      ([{ RootFS }, history]) => nameLayers(history as HistoryEntry[], RootFS.Layers ?? []),
      () => [],
    )
    if (cache.size > 5_000) cache.clear()
    if (layers.length > 0) cache.set(imageId, layers)
    return layers
  }
}

interface HistoryEntry {
  Created: number
  CreatedBy: string
  Size: number
}

/**
 * An engine tells how large each step of an image's history was, and which layers the image has, but not which step made which
 * (a step may leave none, or an empty one). So a step is known by itself and all before it. Two builds of one second and one size
 * look the same that way; they are told apart by the uppermost of as many layers.
 */
function createLayerNamer(): (history: readonly HistoryEntry[], digests: readonly string[]) => ImageLayer[] {
  const topDigests = new Map<string, string>()
  return (history, digests) => {
    let parentId = ''
    const layers = history
      .filter((entry) => entry.Size > 0)
      .toReversed()
      .map(({ Created, CreatedBy, Size }) => {
        parentId = createHash('sha1').update(`${parentId} ${Created} ${Size} ${CreatedBy}`).digest('base64url')
        return { id: parentId, bytes: Size }
      })
    const top = layers.at(-1)
    if (!top) return layers
    const [key, uppermost] = [`${top.id} ${digests.length}`, digests.at(-1) ?? '']
    if ((topDigests.get(key) ?? uppermost) !== uppermost) top.id = `${top.id} ${uppermost}`
    else topDigests.set(key, uppermost)
    return layers
  }
}
