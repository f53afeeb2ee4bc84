/** What is pressed at once, in the words of the record: `d`, `?`, `mod+k`, `escape`; null: none that could be ours. */
export interface Pressed {
  key: string
  code: string
  ctrlKey: boolean
  metaKey: boolean
  altKey: boolean
  shiftKey: boolean
  getModifierState(name: 'AltGraph'): boolean
}

export const isApple = typeof navigator !== 'undefined' && /Mac|iPhone|iPad/.test(navigator.userAgent)

const bareKeys = new Set(['Control', 'Shift', 'Alt', 'Meta', 'AltGraph', 'CapsLock', 'Dead', 'Process', 'Unidentified'])

/** `mod` is ⌘ on Apple's machines and Ctrl elsewhere; what is held with the other one belongs to the system. */
export function chordOf(event: Pressed, apple = isApple): string | null {
  if (bareKeys.has(event.key)) return null
  // On many keyboards AltGr writes characters such as / and ?, and says so as Ctrl and Alt.
  const writes = event.getModifierState('AltGraph')
  if (!writes && (apple ? event.ctrlKey : event.metaKey)) return null
  const mod = !writes && (apple ? event.metaKey : event.ctrlKey)
  const alt = !writes && event.altKey
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
export function isSingle(keys: string): boolean {
  return /^[^+ ](?: |$)/.test(keys)
}

const patience_ms = 1_500

/** Puts keys that are pressed one after another together: `g`, then `p`, is `g p`. */
export function createSpelling() {
  let before = ''
  let until = 0
  return {
    /** `known` are all keys that mean something now. Answers with the keys that are complete, or null. */
    press(chord: string, known: readonly string[], at: number): { complete: string | null; isBegun: boolean } {
      const spelled = before !== '' && at < until ? `${before} ${chord}` : chord
      before = ''
      for (const tried of new Set([spelled, chord])) {
        if (known.includes(tried)) return { complete: tried, isBegun: false }
        if (known.some((keys) => keys.startsWith(`${tried} `))) {
          before = tried
          until = at + patience_ms
          return { complete: null, isBegun: true }
        }
      }
      return { complete: null, isBegun: false }
    },
    forget() {
      before = ''
    },
  }
}

const caps: Record<string, string> = {
  escape: 'Esc',
  enter: 'Enter',
  arrowup: '↑',
  arrowdown: '↓',
  shift: isApple ? '⇧' : 'Shift',
  alt: isApple ? '⌥' : 'Alt',
}

/** What is printed on the keys: `mod+k` is ⌘ K, or Ctrl K. Keys of one chord in one list, chords in the order in which they are pressed. */
export function capsOf(keys: string, apple = isApple): string[][] {
  return keys
    .split(' ')
    .map((chord) =>
      chord
        .split('+')
        .map((key) => (key === 'mod' ? (apple ? '⌘' : 'Ctrl') : (caps[key] ?? (key.length === 1 && chord.includes('+') ? key.toUpperCase() : key)))),
    )
}
