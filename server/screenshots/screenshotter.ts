import type { ScreenshotVariant } from '../contract/previews.ts'

/** What to take a picture of. */
export interface ScreenshotRequest {
  /** The address of an app of ours; nothing of any other origin is loaded. */
  url: string
  /** A door of the edge for this picture alone: what comes in by it is no visit. */
  endpoint: { host: string; port: number }
  /** For whoever cannot go to another port than the address says: with these a request is no visit either. The app does not see them. */
  headers: Record<string, string>
  variants: readonly ScreenshotVariant[]
  signal: AbortSignal
}

export interface CapturedScreenshot {
  variant: ScreenshotVariant
  png: Uint8Array
}

/** Takes pictures of pages: a browser that was found here, or a window of the desktop. */
export interface Screenshotter {
  /** What it takes them with; null: there is nothing, and none are taken. May be another the next time. */
  name(): string | null
  /** PNGs of the variants' sizes, each as soon as it is there. Rejects when there is nothing to see, and says why. */
  take(shot: ScreenshotRequest): AsyncIterable<CapturedScreenshot>
}

/** A phone is laid out as a phone is, and its picture has a pixel for each of the page's. */
export const viewports: Record<ScreenshotVariant, { width: number; height: number; is_mobile: boolean }> = {
  desktop: { width: 1280, height: 800, is_mobile: false },
  mobile: { width: 390, height: 844, is_mobile: true },
}

export interface ScreenshotLimits {
  /** For one picture, from the navigation to the file. */
  picture_ms: number
  /** For a browser to come up, on a machine that builds. */
  start_ms: number
  /** How long a page may load before it is taken as it is. */
  load_ms: number
  /** How long it may go on asking after that. */
  quiet_ms: number
  /** Memory of all of the browser's processes; past it the browser is ended. */
  memory_bytes: number
  heap_mb: number
  /** Of the browser's processes, as in nice(1): 19 is the lowest priority. */
  niceness: number
}

export const defaultScreenshotLimits: ScreenshotLimits = {
  picture_ms: 15_000,
  start_ms: 20_000,
  load_ms: 8_000,
  quiet_ms: 3_000,
  memory_bytes: 1024 * 2 ** 20,
  heap_mb: 256,
  niceness: 19,
}
