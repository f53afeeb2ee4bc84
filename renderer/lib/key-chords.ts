/** The pressed chord in the notation of the shortcut list: `d`, `?`, `mod+k`, `escape`; null if it cannot be a shortcut. */
export interface KeyPress {
  key: string
  code: string
  ctrlKey: boolean
  metaKey: boolean
  altKey: boolean
  shiftKey: boolean
  getModifierState(name: 'AltGraph'): boolean
}

export const isApple = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.userAgent)

const modifierKeys = new Set(['Control', 'Shift', 'Alt', 'Meta', 'AltGraph', 'CapsLock', 'Dead', 'Process', 'Unidentified'])

/** `mod` is ⌘ on Apple devices and Ctrl elsewhere. Chords with the other modifier belong to the system. */
export function chordFromEvent(event: KeyPress, apple = isApple): string | null {
  if (modifierKeys.has(event.key)) return null
  // On many keyboards AltGr types characters such as / and ? and is reported as Ctrl and Alt.
  const isAltGraph = event.getModifierState('AltGraph')
  if (!isAltGraph && (apple ? event.ctrlKey : event.metaKey)) return null
  const mod = !isAltGraph && (apple ? event.metaKey : event.ctrlKey)
  const alt = !isAltGraph && event.altKey
  const isCharacter = event.key.length === 1
  // On a Mac, Alt changes the character, so the physical key is used.
  // Shift changes a digit's character depending on the layout; a layout that types the slash this way means the slash.
  const isDigit = mod && event.shiftKey && event.code.startsWith('Digit') && event.key !== '/'
  const key = isDigit || (alt && /^(Digit|Key)/.test(event.code)) ? event.code.slice(-1) : event.key
  const isAlphabetic = /^[a-z]$/i.test(key)
  // Shift is part of typing a character, so it is named only where it does not change the character.
  const shift = event.shiftKey && (!isCharacter || isAlphabetic || isDigit)
  return [mod && 'mod', alt && 'alt', shift && 'shift', key.toLowerCase()].filter(Boolean).join('+')
}

/** Whether the shortcut is a single character or starts with one. Such shortcuts can be turned off (WCAG 2.1.4). */
export function isSingleKey(keys: string): boolean {
  return /^[^+ ](?: |$)/.test(keys)
}

const sequenceTimeout_ms = 1_500

/** Combines keys pressed one after another: `g`, then `p`, is `g p`. */
export function createKeySequence() {
  let prefix = ''
  let expiresAt = 0
  return {
    /** `known` contains all active shortcuts. Returns the completed shortcut, or null. */
    press(chord: string, bindings: readonly string[], at: number): { complete: string | null; isPartial: boolean } {
      const sequence = prefix !== '' && at < expiresAt ? `${prefix} ${chord}` : chord
      prefix = ''
      for (const candidate of new Set([sequence, chord])) {
        if (bindings.includes(candidate)) return { complete: candidate, isPartial: false }
        if (bindings.some((keys) => keys.startsWith(`${candidate} `))) {
          prefix = candidate
          expiresAt = at + sequenceTimeout_ms
          return { complete: null, isPartial: true }
        }
      }
      return { complete: null, isPartial: false }
    },
    reset() {
      prefix = ''
    },
  }
}

const keycapLabels: Record<string, string> = {
  escape: 'Esc',
  enter: 'Enter',
  arrowup: '↑',
  arrowdown: '↓',
  shift: isApple ? '⇧' : 'Shift',
  alt: isApple ? '⌥' : 'Alt',
}

/** Key labels: `mod+k` is ⌘ K or Ctrl K. One list per chord, in the order of pressing. */
export function keycapsFor(keys: string, apple = isApple): string[][] {
  return keys
    .split(' ')
    .map((chord) =>
      chord
        .split('+')
        .map((key) =>
          key === 'mod' ? (apple ? '⌘' : 'Ctrl') : (keycapLabels[key] ?? (key.length === 1 && chord.includes('+') ? key.toUpperCase() : key)),
        ),
    )
}
