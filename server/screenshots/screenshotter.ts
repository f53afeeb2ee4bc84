import type { ScreenshotVariant } from '../contract/previews.ts'

/** A request for screenshots of a page. */
export interface ScreenshotRequest {
  /** The URL of an app on this instance; nothing from another origin is loaded. */
  url: string
  /** An edge endpoint for this screenshot; its requests do not count as visits. */
  endpoint: { host: string; port: number }
  /** Headers that mark a request as no visit, for browsers that cannot connect to the endpoint's port. The app does not receive them. */
  headers: Record<string, string>
  variants: readonly ScreenshotVariant[]
  signal: AbortSignal
}

export interface CapturedScreenshot {
  variant: ScreenshotVariant
  png: Uint8Array
}

/** Captures screenshots of pages: with a browser of this machine, or with a window of the desktop app. */
export interface Screenshotter {
  /** The browser in use; null: none is available and no screenshots are taken. May change between calls. */
  name(): string | null
  /** PNGs in the variants' sizes, each as soon as it is ready. Rejects with the reason when the page cannot be captured. */
  take(shot: ScreenshotRequest): AsyncIterable<CapturedScreenshot>
}

/** The phone variant uses a mobile layout, with one pixel per CSS pixel. */
export const viewports: Record<ScreenshotVariant, { width: number; height: number; is_mobile: boolean }> = {
  desktop: { width: 1280, height: 800, is_mobile: false },
  mobile: { width: 390, height: 844, is_mobile: true },
}

export interface ScreenshotLimits {
  /** For one screenshot, from navigation to file. */
  picture_ms: number
  /** For the start of a browser on a busy machine. */
  start_ms: number
  /** How long a page may load before it is captured as it is. */
  load_ms: number
  /** How long the page may send requests after that. */
  quiet_ms: number
  /** Memory limit of all processes of the browser; above it the browser is killed. */
  memory_bytes: number
  heap_mb: number
  /** Niceness of the browser's processes, as in nice(1): 19 is the lowest priority. */
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
