import { createHash } from 'node:crypto'
import type Docker from 'dockerode'

export interface ImageLayer {
  /** Identical for every image that shares the layer. */
  id: string
  bytes: number
}

/** The layers of images with their sizes, lowest first. Results are cached, because an image never changes; a removed image has no layers. */
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
 * Docker reports the size of each step in an image's history and the layers of the image, but not which step created which layer; a step may create
 * no layer or an empty one. So a step is identified by itself and all steps before it. Two builds with equal times and sizes look identical; they
 * are distinguished by the uppermost of the same number of layers.
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
