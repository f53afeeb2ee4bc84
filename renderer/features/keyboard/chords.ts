/** What is pressed at once, in the words of the record: `d`, `?`, `mod+k`, `escape`; null: none that could be ours. */
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

/** `mod` is ⌘ on Apple's machines and Ctrl elsewhere; what is held with the other one belongs to the system. */
export function chordFromEvent(event: KeyPress, apple = isApple): string | null {
  if (modifierKeys.has(event.key)) return null
  // On many keyboards AltGr writes characters such as / and ?, and says so as Ctrl and Alt.
  const isAltGraph = event.getModifierState('AltGraph')
  if (!isAltGraph && (apple ? event.ctrlKey : event.metaKey)) return null
  const mod = !isAltGraph && (apple ? event.metaKey : event.ctrlKey)
  const alt = !isAltGraph && event.altKey
  const isCharacter = event.key.length === 1
  // Alt makes another character of a key on a Mac: there the key itself counts.
  // So does Shift of a digit, each keyboard into another one; where that is the slash, it is meant.
  const isDigit = mod && event.shiftKey && event.code.startsWith('Digit') && event.key !== '/'
  const key = isDigit || (alt && /^(Digit|Key)/.test(event.code)) ? event.code.slice(-1) : event.key
  const isLetter = /^[a-z]$/i.test(key)
  // Shift is part of how a character is written, and is said only where it changes nothing that is seen.
  const shift = event.shiftKey && (!isCharacter || isLetter || isDigit)
  return [mod && 'mod', alt && 'alt', shift && 'shift', key.toLowerCase()].filter(Boolean).join('+')
}

/** Whether it is a character alone, or begins with one: such shortcuts can be turned off (WCAG 2.1.4). */
export function isSingleKey(keys: string): boolean {
  return /^[^+ ](?: |$)/.test(keys)
}

const sequenceTimeout_ms = 1_500

/** Puts keys that are pressed one after another together: `g`, then `p`, is `g p`. */
export function createKeySequence() {
  let prefix = ''
  let expiresAt = 0
  return {
    /** `known` are all keys that mean something now. Answers with the keys that are complete, or null. */
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

/** What is printed on the keys: `mod+k` is ⌘ K, or Ctrl K. Keys of one chord in one list, chords in the order in which they are pressed. */
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
