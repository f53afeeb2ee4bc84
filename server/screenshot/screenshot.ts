import type { ScreenshotVariant } from '../contract/previews.ts'

/** What to take a picture of. */
export interface Shot {
  /** The address of an app of ours; nothing of any other origin is loaded. */
  url: string
  /** Where that name is answered, whatever its port says. */
  at: { host: string; port: number }
  /** Borne by every request; the app does not see them. */
  headers: Record<string, string>
  variants: readonly ScreenshotVariant[]
  signal: AbortSignal
}

export interface Picture {
  variant: ScreenshotVariant
  png: Uint8Array
}

/** Takes pictures of pages: a browser that was found here, or a window of the desktop. */
export interface Screenshotter {
  /** What it takes them with; null: there is nothing, and none are taken. May be another the next time. */
  name(): string | null
  /** PNGs of the variants' sizes, each as soon as it is there. Rejects when there is nothing to see, and says why. */
  take(shot: Shot): AsyncIterable<Picture>
}

/** A phone is laid out as a phone is, and its picture has a pixel for each of the page's. */
export const views: Record<ScreenshotVariant, { width: number; height: number; is_mobile: boolean }> = {
  desktop: { width: 1280, height: 800, is_mobile: false },
  mobile: { width: 390, height: 844, is_mobile: true },
}

/** Every number of the room, once. Times in milliseconds. */
export const limits = {
  /** For one picture, from the navigation to the file. */
  picture_ms: 15_000,
  /** For a browser to come up, on a machine that builds. */
  start_ms: 20_000,
  /** How long a page may load before it is taken as it is. */
  load_ms: 8_000,
  /** How long it may go on asking after that. */
  quiet_ms: 3_000,
  /** Memory of all of the browser's processes; past it the browser is ended. */
  memory_bytes: 1024 * 2 ** 20,
  heap_mb: 256,
  again_ms: 5_000,
  tries: 2,
  png_bytes: 8 * 2 ** 20,
}
