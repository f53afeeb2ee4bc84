import { screen, type Rectangle } from 'electron'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

export interface WindowPlace extends Partial<Rectangle> {
  width: number
  height: number
  is_maximized: boolean
  /** Chromium's levels: 0 is 100 %, each step a fifth more or less. */
  zoom: number
}

export const firstPlace: WindowPlace = { width: 1280, height: 820, is_maximized: false, zoom: 0 }
export const smallest = { width: 380, height: 480 }

/** Where the window was, if that is still on a screen; else the size alone, else the first place. */
export function readPlace(path: string): WindowPlace {
  let found: unknown
  try {
    found = JSON.parse(readFileSync(path, 'utf8'))
  } catch {
    return firstPlace
  }
  if (!isPlace(found)) return firstPlace
  const { x, y, is_maximized } = found
  const zoom = Math.max(-3, Math.min(found.zoom ?? 0, 5))
  const isSeen = ({ workArea }: { workArea: Rectangle }) =>
    x !== undefined &&
    y !== undefined &&
    x + 80 > workArea.x &&
    x + 80 < workArea.x + workArea.width &&
    y >= workArea.y &&
    y + 40 < workArea.y + workArea.height
  const display = screen.getAllDisplays().find(isSeen)
  // A window that was on a large screen shall not hang over the edges of a small one.
  const { width, height } = (display ?? screen.getPrimaryDisplay()).workArea
  const size = { width: clamp(found.width, smallest.width, width), height: clamp(found.height, smallest.height, height), is_maximized, zoom }
  return display ? { ...size, x, y } : size
}

const clamp = (wanted: number, least: number, most: number) => Math.max(least, Math.min(wanted, most))

/** A place that cannot be kept is no reason to fail: the window then opens at the first one. */
export function writePlace(path: string, place: WindowPlace): void {
  try {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, JSON.stringify(place))
  } catch {}
}

function isPlace(value: unknown): value is Omit<WindowPlace, 'zoom'> & { zoom?: number } {
  if (typeof value !== 'object' || value === null) return false
  const { x, y, width, height, is_maximized, zoom } = value as Record<string, unknown>
  const isWhole = (number: unknown) => Number.isInteger(number)
  const isWholeOrNone = (number: unknown) => number === undefined || isWhole(number)
  return (
    isWhole(width) &&
    isWhole(height) &&
    isWholeOrNone(x) &&
    isWholeOrNone(y) &&
    typeof is_maximized === 'boolean' &&
    (zoom === undefined || Number.isFinite(zoom))
  )
}
