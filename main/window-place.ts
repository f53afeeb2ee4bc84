import { screen, type Rectangle } from 'electron'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

export interface WindowPlace extends Partial<Rectangle> {
  width: number
  height: number
  is_maximized: boolean
}

export const firstPlace: WindowPlace = { width: 1280, height: 820, is_maximized: false }
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
  const size = { width: Math.max(found.width, smallest.width), height: Math.max(found.height, smallest.height), is_maximized: found.is_maximized }
  const { x, y } = found
  if (x === undefined || y === undefined) return size
  const isSeen = screen
    .getAllDisplays()
    .some(({ workArea }) => x + 80 > workArea.x && x + 80 < workArea.x + workArea.width && y >= workArea.y && y + 40 < workArea.y + workArea.height)
  return isSeen ? { ...size, x, y } : size
}

export function writePlace(path: string, place: WindowPlace): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, JSON.stringify(place))
}

function isPlace(value: unknown): value is WindowPlace {
  if (typeof value !== 'object' || value === null) return false
  const { x, y, width, height, is_maximized } = value as Record<string, unknown>
  const isWhole = (number: unknown) => Number.isInteger(number)
  const isWholeOrNone = (number: unknown) => number === undefined || isWhole(number)
  return isWhole(width) && isWhole(height) && isWholeOrNone(x) && isWholeOrNone(y) && typeof is_maximized === 'boolean'
}
