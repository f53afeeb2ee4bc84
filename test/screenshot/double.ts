import type { Screenshotter, Shot } from '../../server/screenshot/screenshot.ts'

export interface CameraDouble extends Screenshotter {
  shots: Shot[]
  /** Pictures that are being taken, and the most there were at once. */
  open: number
  most: number
  aborted: number
  /** So many of the next ones fail. */
  failures: number
  /** The next one fails after so many pictures; -1: it does not. */
  failAfter: number
  /** Everything waits until it is let go. */
  hold(): () => void
  reset(): void
}

/** Says which picture it would have taken, and of what. */
export function createCameraDouble(): CameraDouble {
  let held: Promise<void> = Promise.resolve()
  const camera: CameraDouble = {
    shots: [],
    open: 0,
    most: 0,
    aborted: 0,
    failures: 0,
    failAfter: -1,
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>()
      held = promise
      return resolve
    },
    reset() {
      Object.assign(camera, { shots: [], most: 0, aborted: 0, failures: 0, failAfter: -1 })
      held = Promise.resolve()
    },
    name: () => 'a double',
    async *take(shot) {
      camera.shots.push(shot)
      camera.open++
      camera.most = Math.max(camera.most, camera.open)
      try {
        await Promise.race([held, called(shot.signal)])
        if (shot.signal.aborted) camera.aborted++
        shot.signal.throwIfAborted()
        if (camera.failures-- > 0) throw new Error('The page is empty.')
        let count = 0
        for (const variant of shot.variants) {
          if (count++ === camera.failAfter) {
            camera.failAfter = -1
            throw new Error('The browser ended.')
          }
          yield { variant, png: Buffer.from(`${variant} of ${new URL(shot.url).origin}`) }
        }
      } finally {
        camera.open--
      }
    },
  }
  return camera
}

const called = (signal: AbortSignal) => new Promise((resolve) => signal.addEventListener('abort', resolve))
