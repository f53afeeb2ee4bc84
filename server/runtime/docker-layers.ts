import { createHash } from 'node:crypto'
import type Docker from 'dockerode'

export interface Layer {
  /** The same for every image that stands on it. */
  id: string
  bytes: number
}

/** The layers of images with their sizes, lowest first. An image never changes, so each is looked at once; one that is gone has none. */
export function imageLayers(): (docker: Docker, imageId: string) => Promise<Layer[]> {
  const known = new Map<string, Layer[]>()
  const names = createNames()
  return async (docker, imageId) => {
    const found = known.get(imageId)
    if (found) return found
    const image = docker.getImage(imageId)
    const layers = await Promise.all([image.inspect(), image.history()]).then(
      ([{ RootFS }, history]) => names(history as Step[], RootFS.Layers ?? []),
      () => [],
    )
    if (known.size > 5_000) known.clear()
    if (layers.length > 0) known.set(imageId, layers)
    return layers
  }
}

interface Step {
  Created: number
  CreatedBy: string
  Size: number
}

/**
 * An engine tells how large each step of an image's history was, and which layers the image has, but not which step made which
 * (a step may leave none, or an empty one). So a step is known by itself and all before it. Two builds of one second and one size
 * look the same that way; they are told apart by the uppermost of as many layers.
 */
function createNames(): (history: readonly Step[], digests: readonly string[]) => Layer[] {
  const tops = new Map<string, string>()
  return (history, digests) => {
    let before = ''
    const layers = history
      .filter((step) => step.Size > 0)
      .toReversed()
      .map(({ Created, CreatedBy, Size }) => {
        before = createHash('sha1').update(`${before} ${Created} ${Size} ${CreatedBy}`).digest('base64url')
        return { id: before, bytes: Size }
      })
    const top = layers.at(-1)
    if (!top) return layers
    const [key, uppermost] = [`${top.id} ${digests.length}`, digests.at(-1) ?? '']
    if ((tops.get(key) ?? uppermost) !== uppermost) top.id = `${top.id} ${uppermost}`
    else tops.set(key, uppermost)
    return layers
  }
}
