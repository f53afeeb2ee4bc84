import { describe, expect, it } from 'vitest'
import { type KeyPress, keycapsFor, chordFromEvent, createKeySequence, isSingleKey } from '../../renderer/lib/key-chords.ts'
import { type Shortcut, shortcuts } from '../../renderer/stores/shortcuts.ts'

const press = (key: string, held: Partial<KeyPress> & { graph?: boolean } = {}): KeyPress => ({
  key,
  code: '',
  ctrlKey: false,
  metaKey: false,
  altKey: false,
  shiftKey: false,
  getModifierState: () => held.graph ?? false,
  ...held,
})

describe('a key press', () => {
  it.each([
    ['a letter', press('d'), 'd'],
    ['a letter with Caps Lock on', press('D'), 'd'],
    ['a capital letter', press('D', { shiftKey: true }), 'shift+d'],
    ['a question mark on any layout', press('?', { shiftKey: true }), '?'],
    ['a slash typed with AltGr', press('/', { ctrlKey: true, altKey: true, graph: true }), '/'],
    ['Ctrl and K', press('k', { ctrlKey: true }), 'mod+k'],
    ['a system shortcut', press('k', { metaKey: true }), null],
    ['a modifier key alone', press('Shift', { shiftKey: true }), null],
    ['an arrow', press('ArrowDown'), 'arrowdown'],
    ['Ctrl, Shift and a digit, whose character depends on the layout', press('!', { ctrlKey: true, shiftKey: true, code: 'Digit1' }), 'mod+shift+1'],
    ['Ctrl and a slash that needs Shift', press('/', { ctrlKey: true, shiftKey: true, code: 'Digit7' }), 'mod+/'],
    ['Shift and a key without a character', press('Enter', { shiftKey: true }), 'shift+enter'],
    ['Alt and a letter', press('å', { altKey: true, code: 'KeyA' }), 'alt+a'],
    ['Alt and a digit', press('¡', { altKey: true, code: 'Digit1' }), 'alt+1'],
  ])('%s', (_, pressed, chord) => expect(chordFromEvent(pressed, false)).toBe(chord))

  it('on an Apple keyboard, ⌘ replaces Ctrl', () => {
    expect(chordFromEvent(press('k', { metaKey: true }), true)).toBe('mod+k')
    expect(chordFromEvent(press('k', { ctrlKey: true }), true)).toBe(null)
    expect(keycapsFor('mod+k', true)).toEqual([['⌘', 'K']])
    expect(keycapsFor('mod+k', false)).toEqual([['Ctrl', 'K']])
    expect(keycapsFor('g p', false)).toEqual([['g'], ['p']])
  })
})

describe('key sequences', () => {
  const known = ['g p', 'g d', 'd', 'mod+k']
  it('count if the second key follows soon', () => {
    const spelling = createKeySequence()
    expect(spelling.press('g', known, 0)).toEqual({ complete: null, isPartial: true })
    expect(spelling.press('d', known, 900)).toEqual({ complete: 'g d', isPartial: false })
    expect(spelling.press('d', known, 1_000).complete).toBe('d')
  })
  it('are two keys if it comes late', () => {
    const spelling = createKeySequence()
    spelling.press('g', known, 0)
    expect(spelling.press('d', known, 5_000).complete).toBe('d')
  })
  it('an unmatched second key counts on its own', () => {
    const spelling = createKeySequence()
    spelling.press('g', known, 0)
    expect(spelling.press('mod+k', known, 10).complete).toBe('mod+k')
    expect(spelling.press('x', known, 20)).toEqual({ complete: null, isPartial: false })
  })
})

describe('the list of shortcuts', () => {
  const all = Object.entries(shortcuts) as [string, Shortcut][]
  it('has no duplicates, and none that is a prefix of another', () => {
    const keys = all.flatMap(([, shortcut]) => shortcut.keys)
    expect(keys.filter((one, index) => keys.indexOf(one) !== index)).toEqual([])
    expect(keys.filter((one) => keys.some((other) => other.startsWith(`${one} `)))).toEqual([])
  })
  it('uses nothing that browsers reserve', () => {
    const taken = /^mod\+([0-9acdefhjlnopqrstuvwxz]|shift\+[a-z])$/
    expect(all.flatMap(([, { keys }]) => keys).filter((keys) => taken.test(keys))).toEqual([])
  })
  it('marks shortcuts that are single characters', () => {
    expect(['d', '?', '/', 'g p'].every(isSingleKey)).toBe(true)
    expect(['mod+k', 'alt+1', 'escape', 'arrowdown'].some(isSingleKey)).toBe(false)
  })
})
