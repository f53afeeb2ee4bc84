import { screen, type Rectangle } from 'electron'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

export interface WindowState extends Partial<Rectangle> {
  width: number
  height: number
  is_maximized: boolean
  /** Chromium's zoom levels: 0 is 100 %, and each step is 20 % more or less. */
  zoom: number
}

export const defaultWindowState: WindowState = { width: 1280, height: 820, is_maximized: false, zoom: 0 }
export const minimumSize = { width: 380, height: 480 }

/** The window's last position if it is still on a screen; else only its size, else the default. */
export function readWindowState(path: string): WindowState {
  let stored: unknown
  try {
    stored = JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return defaultWindowState
  }
  if (!isWindowState(stored)) return defaultWindowState
  const { x, y, is_maximized } = stored
  const zoom = Math.max(-3, Math.min(stored.zoom ?? 0, 5))
  const isOnDisplay = ({ workArea }: { workArea: Rectangle }) =>
    x !== undefined &&
    y !== undefined &&
    x + 80 > workArea.x &&
    x + 80 < workArea.x + workArea.width &&
    y >= workArea.y &&
    y + 40 < workArea.y + workArea.height
  const display = screen.getAllDisplays().find(isOnDisplay)
  // The size is limited, so that a window from a large screen fits a small one.
  const { width, height } = (display ?? screen.getPrimaryDisplay()).workArea
  const size = { width: clamp(stored.width, minimumSize.width, width), height: clamp(stored.height, minimumSize.height, height), is_maximized, zoom }
  return display ? { ...size, x, y } : size
}

const clamp = (value: number, minimum: number, maximum: number) => Math.max(minimum, Math.min(value, maximum))

/** A position that cannot be saved is not an error; the window then opens at its default position. */
export function writeWindowState(path: string, state: WindowState): void {
  try {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, JSON.stringify(state))
  } catch {}
}

function isWindowState(value: unknown): value is Omit<WindowState, 'zoom'> & { zoom?: number } {
  if (typeof value !== 'object' || value === null) return false
  const { x, y, width, height, is_maximized, zoom } = value as Record<string, unknown>
  const isInteger = (number: unknown) => Number.isInteger(number)
  const isIntegerOrUndefined = (number: unknown) => number === undefined || isInteger(number)
  return (
    isInteger(width) &&
    isInteger(height) &&
    isIntegerOrUndefined(x) &&
    isIntegerOrUndefined(y) &&
    typeof is_maximized === 'boolean' &&
    (zoom === undefined || Number.isFinite(zoom))
  )
}
